//! Blocks, and the turns of their threads.
//!
//! Blocks take places in the order of their indices; as many are resident as the device has places for. All threads of
//! all resident blocks take turns, so a block may wait for another one that is resident. The threads of a warp need not
//! advance together.

use std::sync::atomic::{AtomicU64, Ordering};

use wattle_modules::Cursor;
use wattle_modules::code::{Gather, Kernel, NO_REG};
use wattle_modules::meaning::warp::{LANES, result};

use super::barrier::Counted;
use super::memory::{Memory, View};
use super::shape::Shape;
use super::thread::{Common, Gathering, Meeting, Own, Thread, ThreadState, Turn};
use super::{Failure, Fault};

/// The pattern that never-written memory is filled with.
pub const PATTERN: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// The length and order of turns, and the checks during them.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The number of instructions in a turn.
    pub quantum: u32,
    /// The seed by which turns vary in length and order; `None` if they do not.
    pub seed: Option<u64>,
    /// Whether registers are checked for having been written, where that is not known beforehand.
    pub strict: bool,
}

/// A launch of a kernel.
pub struct Launch<'a> {
    /// The kernel that runs.
    pub kernel: &'a Kernel,
    /// The module's constant space.
    pub constants: &'a [u8],
    /// The parameters' bytes.
    pub params: &'a [u8],
    /// The extents of the launch.
    pub shape: Shape,
    /// The number of multiprocessors.
    pub sms: u32,
    /// The devices whose memory the launch may use, one bit each.
    pub devices: u64,
    /// The length and order of turns.
    pub pace: Pace,
}

struct Block {
    index: [u32; 3],
    slot: u32,
    threads: Vec<Thread>,
    regs: Vec<u64>,
    written: Vec<u64>,
    shared: Vec<u64>,
    local: Vec<u64>,
    alive: u32,
    barriers: [Barrier; 16],
    /// What each thread waits for the others of its warp with.
    meetings: Vec<Option<Meeting>>,
    /// What each thread that waits at a barrier gives to it.
    gathers: Vec<Option<Gathering>>,
}

/// The threads that have arrived at a barrier.
#[derive(Clone, Default)]
enum Barrier {
    /// No thread has arrived.
    #[default]
    Idle,
    /// All threads that have not ended are awaited, and this many have arrived.
    All(u32),
    /// The threads of a given number of warps are awaited. A barrier that has opened stays in this state, so that
    /// threads that come in excess are seen.
    Counted(Counted),
}

static GRIDS: AtomicU64 = AtomicU64::new(1);

impl Launch<'_> {
    /// Runs the launch to its end; returns the number of instructions executed.
    ///
    /// # Errors
    /// The first fault of a thread.
    pub fn run(&self, memory: &Memory) -> Result<u64, Failure> {
        if self.kernel.all_assigned || !self.pace.strict {
            self.run_as::<false>(memory)
        } else {
            self.run_as::<true>(memory)
        }
    }

    fn run_as<const CHECKED: bool>(&self, memory: &Memory) -> Result<u64, Failure> {
        let mut common = Common {
            kernel: self.kernel,
            shape: self.shape,
            params: self.params,
            constants: self.constants,
            count: 0,
            view: View::new(memory, self.devices),
            sms: self.sms,
            grid: GRIDS.fetch_add(1, Ordering::Relaxed),
        };
        let [x, y, z] = self.shape.grid.map(u64::from);
        let total = x * y * z;
        let index = |block: u64| [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32];
        let mut next = 0;
        let mut blocks = Vec::new();
        while next < total && blocks.len() < self.shape.places as usize {
            blocks.push(self.block::<CHECKED>(index(next), blocks.len() as u32));
            next += 1;
        }
        let mut jitter = self.pace.seed.map(|seed| Jitter(seed.wrapping_add(common.grid) | 1));
        while !blocks.is_empty() {
            common.view.refresh();
            let mut at = 0;
            while at < blocks.len() {
                let block = &mut blocks[at];
                self.round::<CHECKED>(&mut common, block, jitter.as_mut())?;
                if block.alive > 0 {
                    at += 1;
                } else if next < total {
                    self.renew::<CHECKED>(block, index(next));
                    next += 1;
                    at += 1;
                } else {
                    blocks.swap_remove(at);
                }
            }
        }
        Ok(common.count)
    }

    fn threads(&self) -> u32 {
        self.shape.block.iter().product()
    }

    fn block<const CHECKED: bool>(&self, index: [u32; 3], slot: u32) -> Block {
        let threads = self.threads() as usize;
        let registers = self.kernel.registers.len();
        let mut block = Block {
            index,
            slot,
            threads: Vec::new(),
            regs: vec![PATTERN; threads * registers],
            written: if CHECKED { vec![0; threads * registers.div_ceil(64)] } else { Vec::new() },
            shared: vec![PATTERN; self.kernel.shared_extent(u64::from(self.shape.dynamic)).div_ceil(8) as usize],
            local: vec![PATTERN; threads * self.kernel.local.div_ceil(8) as usize],
            alive: 0,
            barriers: Default::default(),
            meetings: vec![None; threads],
            gathers: vec![None; threads],
        };
        self.renew::<CHECKED>(&mut block, index);
        block
    }

    /// Gives the place of a block that has ended to another block.
    fn renew<const CHECKED: bool>(&self, block: &mut Block, index: [u32; 3]) {
        block.index = index;
        block.threads.clear();
        block
            .threads
            .extend((0..self.threads()).map(|_| Thread { cursor: Cursor::default(), state: ThreadState::Runs }));
        block.written.fill(0);
        block.shared.fill(PATTERN);
        block.local.fill(PATTERN);
        block.alive = self.threads();
        block.barriers = Default::default();
        block.meetings.fill(None);
        block.gathers.fill(None);
    }

    /// Runs one turn of each of the block's threads.
    fn round<const CHECKED: bool>(
        &self,
        common: &mut Common<'_>,
        block: &mut Block,
        mut jitter: Option<&mut Jitter>,
    ) -> Result<(), Failure> {
        let threads = block.threads.len();
        let first = jitter.as_mut().map_or(0, |jitter| jitter.below(threads as u64) as usize);
        let mut any = false;
        for turn in 0..threads {
            let at = (first + turn) % threads;
            if block.threads[at].state != ThreadState::Runs {
                continue;
            }
            any = true;
            let quantum = self.pace.quantum;
            let quantum = jitter.as_mut().map_or(quantum, |jitter| 1 + jitter.below(u64::from(quantum) * 2) as u32);
            let index = self.thread_index(at as u32);
            let turn = {
                let mut own = Own {
                    regs: part(&mut block.regs, at, threads),
                    written: part(&mut block.written, at, threads),
                    shared: &mut block.shared,
                    local: part(&mut block.local, at, threads),
                    index,
                    linear: at as u32,
                    block: block.index,
                    slot: block.slot,
                };
                own.turn::<CHECKED>(common, &mut block.threads[at], quantum)
            };
            match turn {
                Err(fault) => return Err(self.failure(fault, block, at)),
                Ok(Turn::Over) => {}
                Ok(Turn::Ended) => block.end(at).map_err(|fault| self.failure(fault, block, at))?,
                Ok(Turn::Meets(meeting)) => {
                    block.threads[at].state = ThreadState::Meets;
                    block.meetings[at] = Some(meeting);
                    block.meet(at).map_err(|fault| self.failure(fault, block, at))?;
                }
                Ok(Turn::Barrier { waits, barrier, threads, gather }) => {
                    block.gathers[at] = gather;
                    block.arrive(at, waits, barrier, threads);
                }
            }
        }
        if !any && block.alive > 0 {
            let at = block.threads.iter().position(|thread| thread.state != ThreadState::Ended).unwrap_or(0);
            return Err(self.failure(Fault::Stuck, block, at));
        }
        Ok(())
    }

    fn thread_index(&self, at: u32) -> [u32; 3] {
        let [x, y, _] = self.shape.block;
        [at % x, at / x % y, at / x / y]
    }

    fn failure(&self, fault: Fault, block: &Block, at: usize) -> Failure {
        let step = (block.threads[at].cursor.at as usize)
            .saturating_sub(usize::from(!matches!(fault, Fault::Unwritten { .. })));
        Failure {
            fault,
            kernel: self.kernel.name.clone(),
            line: self.kernel.lines.get(step).copied().unwrap_or(0),
            source: self.kernel.sources.get(step).cloned().flatten(),
            block: block.index,
            thread: self.thread_index(at as u32),
        }
    }
}

fn part(all: &mut [u64], at: usize, of: usize) -> &mut [u64] {
    let size = all.len() / of;
    &mut all[at * size..(at + 1) * size]
}

impl Block {
    fn arrive(&mut self, at: usize, waits: bool, barrier: u8, threads: Option<u32>) {
        if waits {
            self.threads[at].state = ThreadState::Waits(barrier);
        }
        let all = self.threads.len();
        let state = &mut self.barriers[usize::from(barrier)];
        match (state, threads) {
            (Barrier::Counted(counted), Some(_)) => counted.arrive(at, is_ended(&self.threads)),
            (state, Some(wanted)) => {
                let mut counted = Counted::new(all, wanted);
                counted.arrive(at, is_ended(&self.threads));
                *state = Barrier::Counted(counted);
            }
            (Barrier::All(arrived), None) => *arrived += 1,
            (state, None) => *state = Barrier::All(1),
        }
        self.settle(barrier);
    }

    fn end(&mut self, at: usize) -> Result<(), Fault> {
        self.threads[at].state = ThreadState::Ended;
        self.alive -= 1;
        for barrier in 0..16 {
            if let Barrier::Counted(counted) = &mut self.barriers[usize::from(barrier)] {
                counted.end(at, is_ended(&self.threads));
            }
            self.settle(barrier);
        }
        self.meet(at)
    }

    /// Does what the lanes of a thread's warp wait for each other with, once all in the member mask that have not
    /// exited are there (PTX ISA 8.8, 9.7.9.6 "shfl.sync"). They are one instruction: others would be undefined, or
    /// hang.
    fn meet(&mut self, at: usize) -> Result<(), Fault> {
        let lanes = LANES as usize;
        let first = at / lanes * lanes;
        let threads = first..self.threads.len().min(first + lanes);
        let Some(meeting) = threads.clone().find_map(|at| self.meetings[at]) else { return Ok(()) };
        let named = |at: usize| meeting.mask >> (at - first) & 1 != 0;
        let mut parts = [None; LANES as usize];
        if u64::from(meeting.mask) >> threads.len() != 0 {
            return Err(Fault::Mask { mask: meeting.mask });
        }
        for at in threads.clone() {
            match (self.meetings[at], self.threads[at].state) {
                (Some(other), _) if other.at != meeting.at || other.mask != meeting.mask || !named(at) => {
                    return Err(Fault::Mask { mask: other.mask });
                }
                (Some(other), _) => parts[at - first] = Some(other.part),
                (None, ThreadState::Ended) => {}
                (None, _) if named(at) => return Ok(()),
                (None, _) => {}
            }
        }
        let registers = self.regs.len() / self.threads.len();
        for at in threads {
            let Some(Meeting { how, to, predicate, .. }) = self.meetings[at].take() else { continue };
            // What a lane that is not there has is undefined.
            let (value, within) = result(how, (at - first) as u32, &parts).unwrap_or((PATTERN & 0xffff_ffff, false));
            for (register, value) in [(to, value), (predicate, u64::from(within))] {
                if register != NO_REG {
                    self.regs[at * registers + register as usize] = value;
                }
            }
            self.threads[at].state = ThreadState::Runs;
        }
        Ok(())
    }

    /// Lets the threads at a barrier go on if all have arrived: the number that the instruction gives, or all that have
    /// not ended (from sm_70 on a barrier waits for the threads that have not exited).
    fn settle(&mut self, barrier: u8) {
        let state = &mut self.barriers[usize::from(barrier)];
        let passes = match state {
            Barrier::Idle => return,
            Barrier::All(arrived) if *arrived < self.alive => return,
            Barrier::All(_) => {
                *state = Barrier::Idle;
                None
            }
            Barrier::Counted(counted) => match counted.open() {
                None => return,
                passes => passes,
            },
        };
        // Whoever came too many waits for the next opening.
        let goes_on = |(at, thread): (usize, &Thread)| {
            thread.state == ThreadState::Waits(barrier) && passes.as_ref().is_none_or(|passes| passes[at])
        };
        let goes_on: Vec<bool> = self.threads.iter().enumerate().map(goes_on).collect();
        let given = self.gathers.iter().zip(&goes_on).filter(|(_, goes_on)| **goes_on);
        let given: Vec<bool> = given.filter_map(|(gather, _)| gather.map(|gather| gather.holds)).collect();
        let registers = self.regs.len() / self.threads.len();
        for at in (0..goes_on.len()).filter(|&at| goes_on[at]) {
            self.threads[at].state = ThreadState::Runs;
            if let Some(gather) = self.gathers[at].take() {
                self.regs[at * registers + gather.to as usize] = match gather.how {
                    Gather::Count => given.iter().filter(|&&holds| holds).count() as u64,
                    Gather::All => u64::from(given.iter().all(|&holds| holds)),
                    Gather::Any => u64::from(given.iter().any(|&holds| holds)),
                };
            }
        }
    }
}

/// Whether the thread of a number has ended.
fn is_ended(threads: &[Thread]) -> impl Fn(usize) -> bool {
    |at| threads[at].state == ThreadState::Ended
}

/// A small random number generator (xorshift64*).
struct Jitter(u64);

impl Jitter {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end.max(1)
    }
}
