//! The PTX that is emitted: its text, what NVIDIA's assembler makes of it, and what it does on the simulated driver.

mod assembled;
mod atomics;
mod batching;
mod checks;
mod elements;
mod emitted;
mod fences;
mod functions;
mod halves;
mod hoisting;
mod lanes;
mod limits;
mod locals;
mod operators;
mod orderings;
mod permitted;
mod printing;
mod random;
mod random_turns;
mod scenarios;
mod specialized;
mod text;
mod tools;
mod warps;
mod wide;
