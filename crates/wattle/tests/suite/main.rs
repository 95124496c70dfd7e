//! The library as its users have it, but for what needs a process of its own: those stand beside this folder.

mod advised;
mod barrier_behind_a_wait;
mod clock_checked;
mod cuda_words;
mod element_lanes_checked;
mod errors;
mod everyday_checked;
mod exchangeable;
mod host_threads;
mod index_layouts;
mod lanes_checked;
mod large_frames;
mod modules;
mod one_after_another;
mod pairs_checked;
mod queues_side_by_side;
mod read_unwritten;
mod structs_checked;
mod truth_values_checked;
mod unawaited;
mod waiting;
mod waiting_together;
mod warp_dependencies;
mod warps_checked;
mod weak_waits;
mod wide_checked;
