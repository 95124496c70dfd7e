//! Which numbers of an element are loaded and stored at once.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::{ExprId, Kernel, ParamId, ParamKind, Place, SlotId, Stmt, Type};

/// The most bytes that GPUs load or store at once.
const MOST_BYTES: usize = 16;

/// Neighbouring numbers of an element, which stand at a multiple of their size together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The numbers' parameters, as the kernel counts them: one, two or four.
    pub params: Range<u32>,
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

impl Kernel {
    /// The numbers of the elements of a parameter, each in a pack. An element begins at a multiple of its size.
    pub fn packs(&self, first: ParamId) -> Vec<Pack> {
        let all = self.params.iter().enumerate().skip(first.index());
        let all: Vec<_> = all
            .map_while(|(number, param)| {
                let ty = match param.kind {
                    ParamKind::View { element, .. } | ParamKind::Scalar(element) => element,
                };
                let field = param.field.filter(|field| field.first == first)?;
                Some((number as u32, ty, field.offset as usize, field.size as usize))
            })
            .collect();
        let mut packs = Vec::new();
        let mut rest = &all[..];
        while let Some(&(number, ty, offset, size)) = rest.first() {
            let fits = |count: &usize| {
                let (wide, bytes) = (ty.size(), count * ty.size());
                let neighbours = rest.get(..*count).into_iter().flatten();
                bytes <= MOST_BYTES
                    && rest.len() >= *count
                    && offset.is_multiple_of(bytes)
                    && size.is_multiple_of(bytes)
                    && neighbours.zip(0..).all(|(other, at)| other.1.size() == wide && other.2 == offset + at * wide)
            };
            let count = [4, 2].into_iter().find(fits).unwrap_or(1);
            let alike = rest[..count].iter().all(|other| other.1 == ty);
            let ty = if alike { ty } else { ty.bits_type() };
            packs.push(Pack { params: number..number + count as u32, ty });
            rest = &rest[count..];
        }
        packs
    }

    /// The pack in which a parameter is, where there are several numbers in it.
    fn pack_of(&self, id: ParamId) -> Option<Pack> {
        let field = self.params[id.index()].field?;
        self.packs(field.first).into_iter().find(|pack| pack.params.len() > 1 && pack.params.contains(&id.0))
    }

    /// The loads with which the block begins, if they are of all numbers of a pack in their order.
    pub fn packed_loads<'s>(&self, block: &'s [Stmt]) -> Option<Packed<'s, SlotId>> {
        let Stmt::Load { place: Place::Param(id), index, .. } = block.first()? else { return None };
        let pack = self.pack_of(*id)?;
        let stmts = block.get(..pack.params.len())?;
        let values = pack.params.clone().zip(stmts).map(|(number, stmt)| match stmt {
            Stmt::Load { dst, place, index: other, .. } => {
                (*place == Place::Param(ParamId(number)) && other == index).then_some(*dst)
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
        are_apart.then_some(Packed { place: Place::Param(*id), index, values, ty: pack.ty })
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
        let Stmt::Store { place: Place::Param(id), index, .. } = block.first()? else { return None };
        let pack = self.pack_of(*id)?;
        let stmts = block.get(..pack.params.len())?;
        let values = pack.params.clone().zip(stmts).map(|(number, stmt)| match stmt {
            Stmt::Store { value, place, index: other, .. } => {
                (*place == Place::Param(ParamId(number)) && other == index).then_some(*value)
            }
            _ => None,
        });
        Some(Packed { place: Place::Param(*id), index, values: values.collect::<Option<_>>()?, ty: pack.ty })
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
