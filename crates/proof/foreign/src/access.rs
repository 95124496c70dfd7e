//! The cells that an access touches.

use smallvec::SmallVec;
use wattle_check::search::{Address, Target};
use wattle_modules::code::{Access, Strength};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Value};

use crate::process::ModuleThread;
use crate::world::World;
use crate::wrong::Wrong;

/// The cells of an access, item by item.
pub(crate) struct Cells {
    /// The space that they are in; that of the access while the address waits for a read.
    pub(crate) space: Space,
    /// The memory; `None` while the address waits for a read, and then each item is taken for a cell.
    pub(crate) memory: Option<u32>,
    /// The number of the item that a cell is in, its offset in bytes, and its width.
    pub(crate) all: SmallVec<[(u32, u64, u8); 4]>,
    /// The number of events that stand for the access: as many as it may have cells, where its address may have been open when
    /// the thread first came to it.
    pub(crate) events: usize,
}

/// Why an access has no cells.
pub(crate) enum NoCells {
    /// It is one to the thread's own memory, from this byte on.
    Local(u64),
    /// It is wrong.
    Wrong(Wrong),
    /// The search has to begin again, or end.
    Spoilt,
}

impl Cells {
    /// The cells of an access of `items` items by a thread's instruction of that number.
    pub(crate) fn of(
        world: &World,
        thread: &ModuleThread,
        at: u32,
        access: &Access,
        address: Deferred,
        items: usize,
    ) -> Result<Cells, NoCells> {
        let bytes = u64::from(access.bytes) * items as u64;
        let is_plain = match access.strength {
            Strength::Weak => true,
            Strength::Volatile => world.volatile_is_plain,
            Strength::Strong { .. } => false,
            Strength::Labels { read, .. } => !read.atomic,
        };
        // How many cells it has, is known with its address; until then it has as many as it may have.
        let may_be_cut = is_plain && !world.takes_whole && thread.part(world).may_be_open(at);
        let piece = if may_be_cut { world.widths.least(access.space).min(access.bytes) } else { access.bytes };
        let pieces = usize::from(access.bytes / piece);
        let Some(address) = address.known() else {
            let of_item = |item| (0..pieces as u64).map(move |number| (item, number * u64::from(piece), piece));
            let all = (0..items as u32).flat_map(of_item).collect();
            return Ok(Cells { space: access.space, memory: None, all, events: items * pieces });
        };
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
                world.refuse(thread.statement(at) as usize, "this address has no space");
                return Err(NoCells::Spoilt);
            }
        };
        let mut all = SmallVec::new();
        if world.takes_whole {
            let offset = |item: u32| offset + u64::from(item) * u64::from(access.bytes);
            all.extend((0..items as u32).map(|item| (item, offset(item), access.bytes)));
            return Ok(Cells { space, memory: Some(memory), all, events: items });
        }
        for item in 0..items as u32 {
            let offset = offset + u64::from(item) * u64::from(access.bytes);
            let width = world.widths.at(memory, offset);
            if access.bytes < width || access.bytes > width && !is_plain && !world.widths.was_narrowed(memory, offset) {
                world.widths.wants(memory, offset, access.bytes);
                return Err(NoCells::Spoilt);
            }
            if access.bytes > width && !is_plain {
                world.refuse(
                    thread.statement(at) as usize,
                    "accesses of different sizes meet here, and this one is strong: only weak ones can be taken apart; access \
                     these bytes in one size everywhere, and shift what is read",
                );
                return Err(NoCells::Spoilt);
            }
            all.extend(
                (offset..offset + u64::from(access.bytes)).step_by(width.into()).map(|cell| (item, cell, width)),
            );
        }
        let events = if may_be_cut { items * pieces } else { all.len() };
        Ok(Cells { space, memory: Some(memory), all, events })
    }

    /// The cell of that number as the search has it.
    pub(crate) fn target(&self, number: usize) -> Option<Target> {
        let (_, element, bytes) = *self.all.get(number)?;
        let memory = self.memory?;
        Some(Target { address: Address { memory, element }, bytes, reference: memory })
    }
}
