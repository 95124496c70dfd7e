//! The math functions' fast forms and remainders; `bounds` has the errors of the others.

mod fast;
mod fmod;
