//! The barriers and operations at which a thread meets others of its block or of its warp.

use wattle_memory::{Label, ThreadId};

use super::KernelThread;
use crate::program::{LaunchWorld, World};
use crate::search::{Action, Barrier, Convergence, Members};

/// The barriers of warps have numbers from here on, so that none is taken for the block's where a block is one warp.
pub(super) const WARP_BARRIERS: u64 = 1 << 32;

impl KernelThread {
    /// The thread's next barrier. Its block's threads meet in the order in which they come, and have to be at the same
    /// instance of the same statement (SPIR-V: `OpControlBarrier`'s "same dynamic instance"); PTX demands it of
    /// the threads of one warp alone (`bar.sync` is `barrier.cta.sync.aligned`).
    pub(super) fn barrier(&mut self, launch: &LaunchWorld, label: Label, instance: u64, source: u32) -> Action {
        self.barriers += 1;
        let members = Members::Threads(self.members.clone());
        let converging = launch.lowering.target().converging_threads();
        let group = converging.map_or(0, |threads| launch.thread_in_block(self.position()) / threads);
        let converges = Some(Convergence { group, instance });
        let barrier = Barrier { instance: self.barriers as u64, resource: 0, members, waits: true, converges };
        Action::Barrier { barrier, label, source }
    }

    /// The thread's next barrier of its warp: all lanes have to be at the same instance of the same statement.
    pub(super) fn warp_barrier(&mut self, launch: &LaunchWorld, instance: u64, source: u32) -> Action {
        let barrier = self.meeting(launch, instance);
        Action::Barrier { barrier, label: launch.lowering.barrier(), source }
    }

    /// The thread's next operation of its warp.
    pub(super) fn meeting(&mut self, launch: &LaunchWorld, instance: u64) -> Barrier {
        self.warp_barriers += 1;
        Barrier {
            instance: WARP_BARRIERS + self.warp_barriers as u64,
            resource: 0,
            members: Members::Threads(self.lanes(launch).collect()),
            waits: true,
            converges: Some(Convergence { group: 0, instance }),
        }
    }

    /// Whether no other lane is in the thread's warp.
    pub(super) fn is_alone(&self, launch: &LaunchWorld) -> bool {
        self.lanes(launch).nth(1).is_none()
    }

    /// The lanes of the thread's warp.
    fn lanes(&self, launch: &LaunchWorld) -> impl Iterator<Item = ThreadId> {
        let lanes = launch.environment.shape.lanes(launch.thread_in_block(self.position()).into());
        lanes.filter_map(|lane| self.members.get(lane as usize).copied())
    }

    /// The instance of a barrier that an edit adds: nothing counts the iterations of the loops around it, so threads
    /// that come to it for the same time are taken to be in the same ones.
    pub(super) fn added_instance(&self, world: &World, launch: &LaunchWorld) -> u64 {
        world.barrier_instance((launch.number, self.thread.at(), vec![u64::MAX, self.barriers as u64]))
    }
}
