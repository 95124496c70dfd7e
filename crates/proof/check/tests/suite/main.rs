//! The search against evaluators that share no code with it, and its reports.

mod agreement;
mod brute;
mod common;
mod counted;
mod findings;
mod many_barriers;
mod oracle;
mod ordering;
mod private_cells;
mod promise;
mod race_free;
mod same_stores;
mod schedule;
mod script;
mod search;
mod seeds;
mod single_run;
mod small;
mod source;
mod strengthening;
mod symmetry;
mod waiting;
