//! The cells that an access touches.

use smallvec::SmallVec;
use wattle_check::search::{AccessTarget, Address};
use wattle_modules::code::{Access, Strength};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Value};

use super::ModuleThread;
use crate::world::World;
use crate::wrong::Wrong;

/// Cells, each with the number of its item, its offset in bytes, and its width.
type CellList = SmallVec<[(u32, u64, u8); 4]>;

/// The cells of an access, item by item.
pub(crate) struct Cells {
    /// The space that they are in; that of the access while the address waits for a read.
    pub(crate) space: Space,
    /// The memory; `None` while the address waits for a read, and then each item is taken for a cell.
    pub(crate) memory: Option<u32>,
    /// The number of the item that a cell is in, its offset in bytes, and its width. An item may be a part of its cell,
    /// if it is read; or the first of those that a store to the cell is made of.
    pub(crate) all: CellList,
    /// The offset in bytes of the first item.
    pub(crate) first: u64,
    /// The number of events that stand for the access: as many as it may have cells, where its address may have been
    /// open when the thread first came to it.
    pub(crate) events: usize,
}

const STRONG_OF_ANOTHER_SIZE: &str = "accesses of different sizes meet here, and this one is strong: only weak ones can be taken apart; \
                                      access these bytes in one size everywhere, and shift what is read";
const WRITES_A_PART: &str = "accesses of different sizes meet here: this one is to a part of a word of 8 bytes that an atomic or strong \
                             access elsewhere takes in larger pieces; access these bytes in one size everywhere, and shift what is written";

/// Why an access has no cells.
pub(crate) enum NoCells {
    /// The access is to the thread's own memory, from this byte on.
    Local(u64),
    /// The access is undefined behaviour, or not supported, for this reason.
    Wrong(Wrong),
    /// The search has to begin again, or end.
    Spoilt,
}

impl Cells {
    /// The cells of an access of `items` items by a thread's instruction of that number; one that only reads can read
    /// parts of cells.
    pub(crate) fn of(
        world: &World,
        thread: &ModuleThread,
        at: u32,
        access: &Access,
        address: Deferred,
        items: usize,
        reads: bool,
    ) -> Result<Cells, NoCells> {
        let is_plain = match access.strength {
            Strength::Weak => true,
            Strength::Volatile => world.volatile_is_plain,
            Strength::Strong { .. } => false,
            Strength::Labels { read, .. } => !read.atomic,
        };
        let of = Accessed { world, thread, at, access, items, reads, is_plain };
        // How many cells it has, is known with its address; until then it has as many as it may have.
        let may_be_cut = is_plain && !world.takes_whole && thread.part(world).may_be_open(at);
        let piece = if may_be_cut { world.widths.least(access.space).min(access.bytes) } else { access.bytes };
        let pieces = usize::from(access.bytes / piece);
        let Some(address) = address.known() else {
            let of_item = |item| (0..pieces as u64).map(move |number| (item, number * u64::from(piece), piece));
            let all = (0..items as u32).flat_map(of_item).collect();
            return Ok(Cells { space: access.space, memory: None, all, first: 0, events: items * pieces });
        };
        let (space, memory, first) = of.place(address)?;
        let all = if world.takes_whole { of.whole_items(first) } else { of.cut_items(memory, first)? };
        let events = if may_be_cut { items * pieces } else { all.len() };
        Ok(Cells { space, memory: Some(memory), all, first, events })
    }

    /// The bytes of the cells, each as a cell of its own.
    pub(crate) fn by_bytes(self) -> Cells {
        let bytes =
            |(item, cell, width): (u32, u64, u8)| (cell..cell + u64::from(width)).map(move |byte| (item, byte, 1));
        let all: CellList = self.all.into_iter().flat_map(bytes).collect();
        Cells { events: self.events.max(all.len()), all, ..self }
    }

    /// Whether the access, if it reads, is to a part of some cell alone.
    pub(crate) fn reads_parts(&self, access: &Access) -> bool {
        self.memory.is_some() && self.all.iter().any(|&(.., width)| width > access.bytes)
    }

    /// The bits of a cell that are a part of its item: the first one, and how many.
    pub(crate) fn part_of(&self, access: &Access, (item, cell, width): (u32, u64, u8)) -> (u32, u32) {
        let bytes = u64::from(access.bytes);
        let from = (self.first + u64::from(item) * bytes).saturating_sub(cell);
        (8 * from as u32, 8 * u32::from(width.min(access.bytes)))
    }

    /// The cell of that number as the search has it.
    pub(crate) fn target(&self, number: usize) -> Option<AccessTarget> {
        let (_, element, bytes) = *self.all.get(number)?;
        let memory = self.memory?;
        Some(AccessTarget { address: Address { memory, element }, bytes, reference: memory })
    }
}

/// An access of a thread's instruction to a number of items.
struct Accessed<'a> {
    world: &'a World,
    thread: &'a ModuleThread,
    /// The number of the instruction.
    at: u32,
    access: &'a Access,
    items: usize,
    /// Whether the access only reads.
    reads: bool,
    /// Whether the access is a plain one by the rules that the launch is judged by: it may be cut into pieces.
    is_plain: bool,
}

impl Accessed<'_> {
    /// The space of an address, the memory that it is in, and the offset there.
    fn place(&self, address: u64) -> Result<(Space, u32, u64), NoCells> {
        let (world, thread, access) = (self.world, self.thread, self.access);
        let bytes = u64::from(access.bytes) * self.items as u64;
        let (space, address) = access.place(address);
        // A vector is aligned to its whole size (PTX ISA 8.8, 5.4.2 "Vectors").
        if !address.is_multiple_of(bytes) {
            return Err(NoCells::Wrong(Wrong::Misaligned(bytes)));
        }
        let (memory, offset) = match space {
            Space::Local => {
                return Err(thread.part(world).place_local(address, bytes).map_or_else(NoCells::Wrong, NoCells::Local));
            }
            Space::Shared => {
                let offset = thread.part(world).place_shared(address, bytes).map_err(NoCells::Wrong)?;
                (thread.shared_memory(world), offset)
            }
            Space::Global => world.place(address, bytes).map_err(NoCells::Wrong)?,
            // PTX ISA 5.1.3 and 5.1.6: kernels only read both.
            Space::Const => return Err(NoCells::Wrong(Wrong::Constant("constant memory"))),
            Space::Param => return Err(NoCells::Wrong(Wrong::Constant("the kernel's parameters"))),
            Space::Generic => {
                world.refuse(thread.statement(self.at) as usize, "this address has no space");
                return Err(NoCells::Spoilt);
            }
        };
        Ok((space, memory, offset))
    }

    /// Each item as a cell, as where a run is one interleaving.
    fn whole_items(&self, first: u64) -> CellList {
        let place = |item: u32| first + u64::from(item) * u64::from(self.access.bytes);
        (0..self.items as u32).map(|item| (item, place(item), self.access.bytes)).collect()
    }

    /// The cells of the items, as wide as they are in that memory. The search has to begin again where an access and a
    /// cell do not fit each other.
    fn cut_items(&self, memory: u32, first: u64) -> Result<CellList, NoCells> {
        let &Accessed { world, thread, access, is_plain, .. } = self;
        let mut all = CellList::new();
        // Operations of different sizes are not morally strong, so that a strong one reads a part of a cell as a weak
        // one does (PTX ISA 8.5, 8.6 "Morally Strong Operations").
        let may_read_parts = self.reads && !matches!(access.strength, Strength::Labels { read, .. } if read.atomic);
        let mut next = 0;
        while next < self.items as u32 {
            let item = next;
            next += 1;
            let offset = first + u64::from(item) * u64::from(access.bytes);
            let width = world.widths.of(memory, offset);
            let cell = u64::from(width.bytes);
            if access.bytes < width.bytes && may_read_parts && width.is_whole {
                all.push((item, offset / cell * cell, width.bytes));
                continue;
            }
            // Elements of a vector that make up a cell are stored in any order: so together, since nobody may look
            // between them.
            let of_cell = u32::from(width.bytes / access.bytes);
            if of_cell > 1
                && is_plain
                && !self.reads
                && width.is_whole
                && offset.is_multiple_of(cell)
                && item + of_cell <= self.items as u32
            {
                all.push((item, offset, width.bytes));
                next = item + of_cell;
                continue;
            }
            if access.bytes < width.bytes || access.bytes > width.bytes && !is_plain {
                // A strong read of a part can do with what others take whole.
                let reads_part = may_read_parts && access.bytes < width.bytes;
                let takes_whole = !is_plain && !reads_part;
                if !world.widths.wants(memory, offset, access.bytes, takes_whole) {
                    world.refuse(
                        thread.statement(self.at) as usize,
                        if is_plain { WRITES_A_PART } else { STRONG_OF_ANOTHER_SIZE },
                    );
                }
                return Err(NoCells::Spoilt);
            }
            all.extend(
                (offset..offset + u64::from(access.bytes))
                    .step_by(width.bytes.into())
                    .map(|at| (item, at, width.bytes)),
            );
        }
        Ok(all)
    }
}
