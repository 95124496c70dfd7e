//! The command as its users call it.

mod anyones_scenarios;
mod check;
mod command;
mod cost;
mod findings;
mod kept;
mod limits;
mod litmus;
mod modules;
mod not_answered;
mod stress;
