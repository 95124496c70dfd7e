//! Modules of others, PTX and SPIR-V: read, checked, launched, refused.

mod advice;
mod answers;
mod bad_input;
mod calls;
mod compilers;
mod cuda;
mod damage;
mod emitted;
mod lanes;
mod large;
mod launched;
mod launched_advice;
mod litmus;
mod mutated;
mod named_barriers;
mod progress;
mod random;
mod read_only;
mod reasons;
mod scor;
mod simulated;
mod spirv;
mod timers;
mod triton;
mod unwritten;
mod zoo;
