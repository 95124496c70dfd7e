//! Stress tests on the host, and mutants that they must find.

mod files;
mod host;
mod planted;
mod programs;
mod scenarios;
