//! Host parts: threads of Wattle's own that run beside those of modules.
//!
//! A host part is searched as its intermediate representation. Its elements are cells of the bytes that modules access,
//! and its statements are numbered behind those of modules.

use wattle_check::checker::Batch;
use wattle_check::program::{KernelThread, LaunchWorld, World as KernelWorld};
use wattle_check::search::{AccessTarget, Action, Address, Initial, Memory, Process, Spawn};
use wattle_ir::Site;

/// The place of a memory's elements: the buffer that holds them, and how they lie in it.
#[derive(Clone, Copy, Debug)]
struct ElementPlace {
    buffer: u32,
    /// The offset of the first one, and the distance of two, in bytes.
    offset: u64,
    stride: u64,
}

/// The host parts of a batch.
#[derive(Debug)]
pub(crate) struct Beside {
    world: KernelWorld,
    places: Vec<Option<ElementPlace>>,
    /// The number of the first host part among all launches.
    first: u32,
}

impl Beside {
    /// The host parts of a batch that has `modules` launches of modules, which are numbered before them.
    pub fn new(host_parts: Vec<LaunchWorld>, batch: &Batch, modules: usize) -> Beside {
        let mut places = vec![None; batch.memories.len()];
        for (number, buffer) in (0..).zip(&batch.buffers) {
            for (memory, leaf) in (buffer.first as usize..).zip(buffer.layout.numbers()) {
                let (offset, stride) = (leaf.offset.into(), buffer.layout.size() as u64);
                places[memory] = Some(ElementPlace { buffer: number, offset, stride });
            }
        }
        Beside { world: KernelWorld::new(host_parts, batch.memories.clone()), places, first: modules as u32 }
    }

    /// The host parts' threads, one of each.
    pub fn threads(&self) -> Vec<Spawn<HostThread>> {
        // Scopes were checked when the launch was made.
        let threads = self.world.threads().unwrap_or_default();
        let of = |Spawn { placement, process, .. }: Spawn<KernelThread>| {
            let process = HostThread(process);
            Spawn { placement, process, after: [].into() }
        };
        threads.into_iter().map(of).collect()
    }

    /// The number that a statement has in the host parts' own world; `None` for one of a module.
    fn own(&self, statement: usize) -> Option<u32> {
        let base = (self.first as usize) << 20;
        statement.checked_sub(base).map(|own| own as u32)
    }

    /// The source line of a statement, if it is a host part's.
    pub fn site(&self, statement: usize) -> Option<Site> {
        self.world.site(self.own(statement)?)
    }

    /// The fault of that number in words.
    pub fn fault(&self, number: u32, statement: usize) -> Option<String> {
        let (launch, _) = KernelWorld::statement(self.own(statement)?);
        let fault = self.world.fault(number)?;
        Some(fault.describe(self.world.launches.get(launch)?.program.kernel()).to_string())
    }

    /// The cell of an element.
    fn cell(&self, address: Address) -> Address {
        let place = self.places.get(address.memory as usize).copied().flatten();
        place.map_or(address, |ElementPlace { buffer, offset, stride }| Address {
            memory: buffer,
            element: offset + address.element * stride,
        })
    }

    /// The element that is a cell; `None` where it is a part of one.
    fn element(&self, cell: Address) -> Option<Address> {
        if KernelWorld::is_shared(cell.memory) {
            return Some(cell);
        }
        self.places.iter().zip(0..).find_map(|(place, memory)| {
            let ElementPlace { buffer, offset, stride } = (*place)?;
            let within = cell.element.checked_sub(offset).filter(|_| buffer == cell.memory)?;
            within.is_multiple_of(stride).then(|| Address { memory, element: within / stride })
        })
    }

    fn target(&self, target: Option<AccessTarget>) -> Option<AccessTarget> {
        target.map(|target| {
            let address = self.cell(target.address);
            AccessTarget { address, reference: address.memory, ..target }
        })
    }
}

/// The thread of a host part.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct HostThread(KernelThread);

impl Process for HostThread {
    type World = Beside;

    fn next(&mut self, beside: &Beside) -> Action {
        let statement = |source: u32| source + (beside.first << 20);
        match self.0.next(&beside.world) {
            Action::Read { target, label, source } => {
                Action::Read { target: beside.target(target), label, source: statement(source) }
            }
            Action::Write { target, value, label, source } => {
                Action::Write { target: beside.target(target), value, label, source: statement(source) }
            }
            Action::Update { target, change, read, write, source } => {
                let target = beside.target(target);
                Action::Update { target, change, read, write, source: statement(source) }
            }
            Action::Fence { label, source } => Action::Fence { label, source: statement(source) },
            Action::Barrier { barrier, label, source } => Action::Barrier { barrier, label, source: statement(source) },
            Action::Exchange { barrier, exchange, source } => {
                Action::Exchange { barrier, exchange, source: statement(source) }
            }
            Action::BackEdge { label, source, waits, ends } => {
                Action::BackEdge { label, source: statement(source), waits, ends }
            }
            Action::Fault { fault, source } => Action::Fault { fault, source: statement(source) },
            same @ (Action::LoopHead { .. } | Action::NeedsValue | Action::Halt | Action::Done) => same,
        }
    }

    fn answer(&mut self, beside: &Beside, value: Option<u64>) {
        self.0.answer(&beside.world, value);
    }

    fn is_alike(&self, beside: &Beside, other: &HostThread) -> bool {
        self.0.is_alike(&beside.world, &other.0)
    }

    fn repeats(&self, beside: &Beside, earlier: &HostThread) -> bool {
        self.0.repeats(&beside.world, &earlier.0)
    }

    fn ways(&self, beside: &Beside) -> Option<Vec<HostThread>> {
        Some(self.0.ways(&beside.world)?.into_iter().map(HostThread).collect())
    }

    fn any_pending(&self) -> bool {
        self.0.any_pending()
    }

    fn any_unmarked(&self) -> bool {
        self.0.any_unmarked()
    }

    fn mark_pending(&mut self) {
        self.0.mark_pending();
    }

    fn forget_dead(&mut self, beside: &Beside) {
        self.0.forget_dead(&beside.world);
    }

    fn may_write(&self, beside: &Beside, address: Address) -> bool {
        beside.element(address).is_none_or(|element| self.0.may_write(&beside.world, element))
    }
}

/// The memory of modules is the bytes of their world; block memory of host parts is their own.
impl Memory for Beside {
    fn initial(&self, address: Address) -> Initial {
        self.world.initial(address)
    }
}
