//! The fuzzer: that what it draws is legal, that it finds what is planted, and shrinks it.

mod coverage;
mod devices;
mod files;
mod legal;
mod self_check;
mod shrinking;
