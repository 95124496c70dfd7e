//! The scenarios that come with Wattle: on devices, under the checker, and on their page.

mod advice_together;
mod algorithms_page;
mod asserted;
mod barriers;
mod before_bounds;
mod checked;
mod computed_dependencies;
mod dead_ends;
mod dependencies;
mod failed_iterations;
mod fence_orders;
mod frames;
mod how_far;
mod interleavings;
mod last_writes;
mod long_steps;
mod loop_bounds;
#[allow(dead_code, reason = "the xtask that writes the page uses all of it")]
mod page;
mod progress;
mod properties;
mod proved;
mod registry;
mod removed_dependencies;
mod resting_verdicts;
mod same_instructions;
mod seen_in_runs;
mod sizes;
mod spinning;
mod stories;
mod waiting_alone;
mod waiting_together;
