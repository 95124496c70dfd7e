//! Which numbers of an element are loaded and stored at once.

use std::ops::Range;

use crate::{ExprId, Kernel, ParamId, ParamKind, Place, SlotId, Stmt, Type};

/// The most bytes that GPUs load or store at once.
const MOST_BYTES: usize = 16;

/// Neighbouring numbers of an element, which stand at a multiple of their size together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Their parameters: one, two or four.
    pub params: Range<u32>,
    /// The type of each, where they have one; else an unsigned type as wide.
    pub ty: Type,
}

/// The plain accesses that stand at the beginning of a block and are to all numbers of a pack.
#[derive(Debug)]
pub struct Packed<'s, V> {
    /// The place of the first number.
    pub place: Place,
    /// Where the element is.
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
        Some(Packed { place: Place::Param(*id), index, values: values.collect::<Option<_>>()?, ty: pack.ty })
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
