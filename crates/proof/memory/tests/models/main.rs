//! The models' axioms and the lowering table, a case each: small executions written down as text, judged by the models.
//!
//! Each case names the clause of the specification that it tests, and fails if the clause is removed from the model.

mod lowered;
mod models;
mod notation;
mod ptx;
mod ptx_causality;
mod rust;
mod table;
mod textbook;
mod vulkan;
mod vulkan_chains;
