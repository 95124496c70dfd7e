//! Launches of modules' kernels on the simulated device: one interleaving, in which all values are known.
//!
//! A thread is the one that the checker searches with. What the checker can find out only by beginning its search
//! again, a run does not judge: values that nothing fixes, where they matter.

use std::any::Any;
use std::sync::Arc;

use wattle_check::checker::{BatchBuffer, BatchLaunch};
use wattle_check::search::{Action, Address, Process as _};
use wattle_check::simulate::{Role, SharedVariable, SimulatedModule, SimulatedThread};
use wattle_core::{Error, Result};
use wattle_ir::Site;
use wattle_modules::code::{AtObject, Op};

use super::images::range_of;
use super::{module, refused};
use crate::elected::Elected;
use crate::judge::execution::{LANES_HAVE_ENDED, NOT_ALL_COME};
use crate::process::ModuleThread;
use crate::range::{Range, address_of};
use crate::world::World;

/// A launch, with what is asked of each instruction at each access.
#[derive(Debug)]
struct Simulated {
    world: World,
    sites: Vec<Site>,
    roles: Vec<Role>,
    own_ranges: Vec<u64>,
    is_spirv: bool,
}

/// A thread of a simulated launch.
struct Thread {
    of: Arc<Simulated>,
    process: ModuleThread,
    /// Whether the thread cannot go on.
    halts: bool,
}

/// Prepares a launch on arguments in these buffers. The seed chooses what is left to devices.
///
/// # Errors
/// Its text is refused, or it has an instruction that cannot be judged.
pub(super) fn prepare(launch: &BatchLaunch, buffers: &[BatchBuffer], seed: u64) -> Result<Arc<dyn SimulatedModule>> {
    let mut ranges: Vec<Range> = buffers.iter().map(|buffer| range_of(buffer, Vec::new())).collect();
    let mut part = module::part(&launch.kernel, buffers, None)?;
    let mut own_ranges = Vec::new();
    // Another launch's is 0, for which `cg::this_grid()` is no valid group.
    if launch.cooperative && part.reads_workspace() {
        part.workspace = Some(address_of(ranges.len()));
        let workspace = Range::of_workspace();
        own_ranges.push(workspace.bytes);
        ranges.push(workspace);
    }
    part.device = launch.device;
    let is_spirv = part.spirv.is_some();
    let steps = &part.kernel().steps;
    let role = |op: &Op| {
        let reads_read_only = op.outline(|_| {}, |_| {}).access.is_some_and(|access| access.read_only);
        if matches!(op, Op::Copy(_)) {
            Role::BeginsCopy
        } else if matches!(op, Op::CopyWait { .. } | Op::CopyObject { does: AtObject::Arrives, .. }) {
            Role::EndsCopy
        } else if reads_read_only {
            Role::ReadsReadOnly
        } else {
            Role::Usual
        }
    };
    let roles = steps.iter().map(|step| role(&step.op)).collect();
    let count = steps.len();
    let mut world = World::of(vec![part], ranges).map_err(refused)?;
    if let Some(statement) = world.active.is_chosen() {
        let at = world.place_of(statement as usize);
        return Err(Error::capability(
            "simulated",
            format!("run the `activemask` at {at}: which lanes are together is left to the device"),
            "judge the launch by itself, `wattle check FILE.ptx`, where all choices are tried, or launch it with one thread per \
             block",
        ));
    }
    world.takes_whole = true;
    world.elected = Elected::seeded(seed);
    let sites = (0..count).map(|at| world.site_of(at)).collect();
    Ok(Arc::new(Simulated { world, sites, roles, own_ranges, is_spirv }))
}

impl SimulatedModule for Simulated {
    fn thread(self: Arc<Self>, block: u32, number: u32) -> Box<dyn SimulatedThread> {
        let process = ModuleThread::new(&self.world, 0, block, number);
        Box::new(Thread { of: self, process, halts: false })
    }

    fn words(&self) -> usize {
        let kernel = self.world.kernel();
        kernel.registers.len() + kernel.local as usize
    }

    fn shared(&self) -> Vec<SharedVariable> {
        let part = &self.world.parts[0];
        if !self.is_spirv {
            return vec![SharedVariable { address: 0, initial: vec![None; part.shared_extent() as usize] }];
        }
        let variable = |(number, range): (usize, &Range)| {
            let mut initial = range.initial.clone();
            initial.resize(range.bytes as usize, None);
            SharedVariable { address: address_of(number), initial }
        };
        part.shared().iter().enumerate().map(variable).collect()
    }

    fn own_ranges(&self) -> Vec<u64> {
        self.own_ranges.clone()
    }

    fn site(&self, source: u32) -> Site {
        self.sites.get(source as usize).or(self.sites.last()).copied().unwrap_or_else(Site::caller)
    }

    fn role(&self, source: u32) -> Role {
        self.roles.get(source as usize).copied().unwrap_or(Role::Usual)
    }

    fn fault(&self, fault: u32) -> String {
        self.world.wrong(fault).map_or_else(String::new, |wrong| wrong.to_string())
    }

    fn place(&self, range: u32, offset: u64) -> String {
        self.world.name_of(Address { memory: range, element: offset })
    }

    fn extends_patterns(&self) -> bool {
        !self.is_spirv
    }

    fn separates_classes(&self) -> bool {
        self.is_spirv
    }

    fn why_lanes_may_miss(&self, have_ended: bool) -> Option<&'static str> {
        // Those of a subgroup of SPIR-V wait for whoever comes.
        if self.is_spirv { Some(NOT_ALL_COME) } else { have_ended.then_some(LANES_HAVE_ENDED) }
    }
}

impl SimulatedThread for Thread {
    fn next(&mut self) -> Action {
        let action = self.process.next(&self.of.world);
        self.halts = matches!(action, Action::Halt);
        action
    }

    fn answer(&mut self, value: u64) {
        self.process.answer(&self.of.world, Some(value));
    }

    fn answer_unwritten(&mut self, word: u64, bytes: u8) -> bool {
        let carries = self.process.carries_unwritten(&self.of.world);
        self.process.answer_unwritten_bytes(&self.of.world, word, bytes);
        carries
    }

    fn why_not_judged(&self) -> Option<String> {
        let world = &self.of.world;
        let any = || {
            let decides = || world.why_unfixed(&|_| false);
            decides().unwrap_or_else(|| {
                "a value that nothing fixes is given to other threads, which the simulated device does not follow; \
                 `Checker` does"
                    .into()
            })
        };
        if self.halts
            && let Some(why) = world.refused()
        {
            return Some(why);
        }
        world.unfixed.matters().then(any)
    }

    fn site(&self) -> Site {
        // A thread that has ended stands behind its last instruction.
        self.of.site(if self.process.has_ended() { self.at().saturating_sub(1) } else { self.at() })
    }

    fn at(&self) -> u32 {
        self.process.source() as u32
    }

    fn repeats(&self, earlier: &dyn SimulatedThread) -> bool {
        let earlier: &dyn Any = earlier;
        earlier.downcast_ref::<Thread>().is_some_and(|earlier| self.process.goes_round(&earlier.process))
    }

    fn copy(&self) -> Box<dyn SimulatedThread> {
        Box::new(Thread { of: self.of.clone(), process: self.process.clone(), halts: self.halts })
    }
}
