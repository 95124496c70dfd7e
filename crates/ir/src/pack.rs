//! Which numbers of an element are loaded and stored at once.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::{ExprId, Kernel, ParamId, ParamKind, Place, SharedId, SlotId, Stmt, Type};

/// The most bytes that GPUs load or store at once.
const MOST_BYTES: usize = 16;

/// Neighbouring numbers of an element, which stand at a multiple of their size together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The numbers' parameters, or their arrays in shared memory, as the kernel counts them: one, two or four.
    pub places: Range<u32>,
    /// The type of each, where they have one; else an unsigned type as wide.
    pub ty: Type,
}

/// The plain accesses that stand at the beginning of a block and are to all numbers of a pack.
#[derive(Debug)]
pub struct Packed<'s, V> {
    /// The place of the first number.
    pub place: Place,
    /// The index of the element.
    pub index: &'s [ExprId],
    /// What each number is loaded into, or what is stored.
    pub values: Vec<V>,
    /// The type of each number.
    pub ty: Type,
}

/// A number of an element: where its place is among the kernel's, its type, and its offset.
struct Leaf {
    place: u32,
    ty: Type,
    offset: usize,
}

/// The numbers of elements of `size` bytes, each in a pack. An element begins at a multiple of its size.
fn packs(leaves: &[Leaf], size: usize) -> Vec<Pack> {
    let mut packs = Vec::new();
    let mut rest = leaves;
    while let Some(&Leaf { place, ty, offset }) = rest.first() {
        let fits = |count: &usize| {
            let (wide, bytes) = (ty.size(), count * ty.size());
            let neighbours = rest.get(..*count).into_iter().flatten();
            bytes <= MOST_BYTES
                && rest.len() >= *count
                && offset.is_multiple_of(bytes)
                && size.is_multiple_of(bytes)
                && neighbours.zip(0..).all(|(other, at)| other.ty.size() == wide && other.offset == offset + at * wide)
        };
        let count = [4, 2].into_iter().find(fits).unwrap_or(1);
        let alike = rest[..count].iter().all(|other| other.ty == ty);
        let ty = if alike { ty } else { ty.bits_type() };
        packs.push(Pack { places: place..place + count as u32, ty });
        rest = &rest[count..];
    }
    packs
}

impl Kernel {
    /// The numbers of the elements of a parameter, each in a pack.
    pub fn packs(&self, first: ParamId) -> Vec<Pack> {
        let all = self.params.iter().zip(0..).skip(first.index());
        let mut size = 0;
        let leaves = all.map_while(|(param, place)| {
            let ty = match param.kind {
                ParamKind::View { element, .. } | ParamKind::Scalar(element) => element,
            };
            let field = param.field.filter(|field| field.first == first)?;
            size = field.size as usize;
            Some(Leaf { place, ty, offset: field.offset as usize })
        });
        let leaves: Vec<_> = leaves.collect();
        packs(&leaves, size)
    }

    /// The arrays in shared memory that hold the numbers of one kind of elements, where an element has several that are
    /// loaded and stored at once. Larger elements have an array for each number: there neighbouring lanes would meet in a bank.
    pub fn shared_pack(&self, id: SharedId) -> Option<Pack> {
        let first = self.shared[id.index()].field?.first;
        let all = self.shared.iter().zip(0..).skip(first.index());
        let mut size = 0;
        let leaves = all.map_while(|(array, place)| {
            let field = array.field.filter(|field| field.first == first)?;
            size = field.size as usize;
            Some(Leaf { place, ty: array.element, offset: field.offset as usize })
        });
        let leaves: Vec<_> = leaves.collect();
        packs(&leaves, size).pop().filter(|pack| pack.places.len() > 1 && pack.places.len() == leaves.len())
    }

    /// The pack in which a place is, where there are several numbers in it.
    fn pack_of(&self, place: Place) -> Option<Pack> {
        match place {
            Place::Param(id) => {
                let all = self.packs(self.params[id.index()].field?.first);
                all.into_iter().find(|pack| pack.places.len() > 1 && pack.places.contains(&id.0))
            }
            Place::Shared(id) => self.shared_pack(id),
            Place::Local(_) => None,
        }
    }

    /// The place with a number, of the same kind as `place`.
    fn numbered(place: Place, number: u32) -> Place {
        match place {
            Place::Param(_) => Place::Param(ParamId(number)),
            Place::Shared(_) => Place::Shared(SharedId(number)),
            Place::Local(_) => place,
        }
    }

    /// The loads with which the block begins, if they are of all numbers of a pack in their order.
    pub fn packed_loads<'s>(&self, block: &'s [Stmt]) -> Option<Packed<'s, SlotId>> {
        let Stmt::Load { place: first, index, .. } = block.first()? else { return None };
        let pack = self.pack_of(*first)?;
        let stmts = block.get(..pack.places.len())?;
        let values = pack.places.clone().zip(stmts).map(|(number, stmt)| match stmt {
            Stmt::Load { dst, place, index: other, .. } => {
                (*place == Kernel::numbered(*first, number) && other == index).then_some(*dst)
            }
            _ => None,
        });
        let values = values.collect::<Option<Vec<SlotId>>>()?;
        // One that sets the slot of another one, or what the index of the next ones reads, is not done at once with
        // them.
        let is_alone = |(number, slot): (usize, &SlotId)| {
            !values[..number].contains(slot)
                && (number + 1 == values.len() || !index.iter().any(|&part| self.reads(part, *slot)))
        };
        let are_apart = values.iter().enumerate().all(is_alone);
        are_apart.then_some(Packed { place: *first, index, values, ty: pack.ty })
    }

    /// Whether an expression reads a slot.
    fn reads(&self, id: ExprId, slot: SlotId) -> bool {
        let (mut seen, mut found) = (FxHashSet::default(), false);
        self.walk_expr(id, &mut |id, expr| {
            found |= expr.parts().slot == Some(&slot);
            !found && seen.insert(id)
        });
        found
    }

    /// The stores with which the block begins, if they are to all numbers of a pack in their order.
    pub fn packed_stores<'s>(&self, block: &'s [Stmt]) -> Option<Packed<'s, ExprId>> {
        let Stmt::Store { place: first, index, .. } = block.first()? else { return None };
        let pack = self.pack_of(*first)?;
        let stmts = block.get(..pack.places.len())?;
        let values = pack.places.clone().zip(stmts).map(|(number, stmt)| match stmt {
            Stmt::Store { value, place, index: other, .. } => {
                (*place == Kernel::numbered(*first, number) && other == index).then_some(*value)
            }
            _ => None,
        });
        Some(Packed { place: *first, index, values: values.collect::<Option<_>>()?, ty: pack.ty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, ElementLayout, Expr, Field, Param, Site, Slot};

    /// Loads of both numbers of the element whose index slot 0 holds, into these slots.
    fn packs(slots: [u32; 2]) -> bool {
        let site = Site::caller();
        let layout = ElementLayout::array(&ElementLayout::number(Type::U32), 2);
        let kind = ParamKind::View { access: Access::Shared, element: Type::U32, rank: 1 };
        let param = |number| Param { name: "pairs", kind, field: Field::of(ParamId(0), &layout, number) };
        let load = |number: u32| {
            let (dst, place) = (SlotId(slots[number as usize]), Place::Param(ParamId(number)));
            Stmt::Load { dst, place, index: vec![ExprId(0)], site }
        };
        let kernel = Kernel {
            params: vec![param(0), param(1)],
            slots: vec![Slot { ty: Type::U32, name: None }; 3],
            exprs: vec![Expr::Slot(SlotId(0))],
            body: vec![load(0), load(1)],
            ..Kernel::new("pairs", site, 1)
        };
        kernel.packed_loads(&kernel.body).is_some()
    }

    #[test]
    fn loads_that_change_each_other_are_not_done_at_once() {
        assert!(packs([1, 2]));
        assert!(packs([1, 0]), "the last one may set what the index reads");
        assert!(!packs([1, 1]), "the second one sets the slot of the first");
        assert!(!packs([0, 1]), "the first one sets what the index of the second reads");
    }
}
