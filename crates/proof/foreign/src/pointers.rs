//! Which buffers a thread may still write: where the addresses of its stores can come from.
//!
//! Every buffer has a range of addresses far from the others, and a kernel gets their addresses as parameters. So the
//! address of a store is in the range of one of the parameters that it is computed from; where it may come from memory,
//! or is computed from no parameter, the store may be to any.

use wattle_memory::Set;
use wattle_modules::code::{Access, Kernel, Op, Reg, Special};
use wattle_modules::types::Space;

/// The ranges that instructions may write; `None` for all.
#[derive(Debug)]
pub(crate) struct Pointers {
    /// For each instruction, those that it may write itself.
    own: Vec<Option<Set>>,
    /// For each instruction, those that may be written from it on.
    ahead: Vec<Option<Set>>,
}

/// What is known of where a value comes from: the ranges whose addresses it is computed from, or nothing.
type Origin = Option<Set>;

/// The size of an address in bytes.
const ADDRESS: u8 = 8;

impl Pointers {
    /// The ranges that a launch with these parameters may write. `range` is the range of an address, if it is in one of
    /// the `ranges`.
    pub fn of(kernel: &Kernel, params: &[u8], ranges: usize, range: impl Fn(u64) -> Option<usize>) -> Option<Pointers> {
        // An address that stands in the text is that of a variable, which any register may get.
        if kernel.constants.iter().any(|&constant| range(constant).is_some()) {
            return None;
        }
        let given = |access: &Access, item: u64| {
            let from = access.base.get::<u64>(&[], &kernel.constants).wrapping_add_signed(access.offset.into());
            let from = usize::try_from(from + item * u64::from(ADDRESS)).ok()?;
            let bytes = params.get(from..from + usize::from(ADDRESS))?;
            range(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let mut origins: Vec<Origin> = vec![Some(Set::new(ranges)); kernel.registers.len()];
        loop {
            let before = origins.clone();
            for step in &kernel.steps {
                let (mut origin, mut written) = (Some(Set::new(ranges)), Vec::<Reg>::new());
                let outline =
                    step.op.outline(|reg| origin = join(&origin, &before[reg as usize]), |reg| written.push(reg));
                let is_param = |access: &&Access| access.space == Space::Param && access.base.as_reg().is_none();
                if let Some(access) = outline.access.filter(|access| outline.reads_memory && access.bytes == ADDRESS) {
                    for (&reg, item) in written.iter().zip(0..) {
                        let value = Some(access).filter(is_param).map(|access| {
                            let mut from = Set::new(ranges);
                            given(access, item).into_iter().for_each(|range| from.insert(range));
                            from
                        });
                        origins[reg as usize] = join(&origins[reg as usize], &value);
                    }
                    continue;
                }
                if outline.access.is_some() {
                    // A value that is narrower than an address is none.
                    continue;
                }
                if matches!(step.op, Op::Pack { .. } | Op::Special { which: Special::Workspace(_), .. }) {
                    origin = None;
                }
                for reg in written {
                    origins[reg as usize] = join(&origins[reg as usize], &origin);
                }
            }
            if origins == before {
                break;
            }
        }
        let written = kernel.steps.iter().map(|step| written(&step.op, &origins, ranges)).collect();
        Some(Pointers::ahead(kernel, written))
    }

    /// The ranges that may be written from each instruction on, by those that each one itself may write.
    pub fn ahead(kernel: &Kernel, own: Vec<Option<Set>>) -> Pointers {
        let mut ahead = own.clone();
        loop {
            let before = ahead.clone();
            for at in (0..ahead.len()).rev() {
                let step = &kernel.steps[at];
                let behind = Some(at + 1).filter(|_| step.falls_through());
                for next in step.target().into_iter().chain(behind).filter(|&next| next < kernel.steps.len()) {
                    ahead[at] = join(&ahead[at], &ahead[next]);
                }
            }
            if ahead == before {
                return Pointers { own, ahead };
            }
        }
    }

    /// Whether a range may be written from an instruction on.
    pub fn may_write(&self, at: usize, range: usize) -> bool {
        self.ahead.get(at).and_then(Option::as_ref).is_none_or(|ranges| ranges.contains(range))
    }

    /// Whether an instruction itself may write a range.
    pub fn writes(&self, at: usize, range: usize) -> bool {
        self.own.get(at).and_then(Option::as_ref).is_none_or(|ranges| ranges.contains(range))
    }
}

/// The ranges that an instruction may write.
fn written(op: &Op, origins: &[Origin], ranges: usize) -> Origin {
    let outline = op.outline(|_| {}, |_| {});
    let is_global = |access: &&Access| matches!(access.space, Space::Global | Space::Generic);
    let Some(access) = outline.access.filter(|_| outline.writes_memory).filter(is_global) else {
        return Some(Set::new(ranges));
    };
    let origin = access.base.as_reg().and_then(|reg| origins[reg as usize].clone());
    origin.filter(|ranges| !ranges.is_empty())
}

fn join(one: &Origin, other: &Origin) -> Origin {
    Some(one.clone()? | other.as_ref()?)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use wattle_modules::ptx;

    use super::*;

    /// The ranges, of three whose addresses are the parameters, that a body may write from its beginning on.
    fn written(body: &str) -> Option<Vec<usize>> {
        let text = format!(
            ".version 8.6\n.target sm_90\n.entry k(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 n)\n{{\n\
             .reg .u64 %x, %y, %z, %n, %a; .reg .u32 %v, %w; .reg .pred %p;\n\
             ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z]; ld.param.u64 %n, [n];\n{body}\nret; }}"
        );
        let module = ptx::read("k.ptx", &text, ptx::Limits::NONE, &HashMap::new()).expect("the text is right");
        let params =
            module.kernels[0].parameter_space(&[100_000u64, 200_000, 300_000, 7].map(u64::to_le_bytes).concat());
        let range =
            |address: u64| (address >= 100_000).then(|| address as usize / 100_000 - 1).filter(|&range| range < 3);
        let pointers = Pointers::of(&module.kernels[0], &params, 3, range)?;
        Some((0..3).filter(|&range| pointers.may_write(0, range)).collect())
    }

    #[test]
    fn stores_go_where_their_addresses_come_from() {
        for (body, ranges) in [
            ("ld.global.u32 %v, [%y];", &[][..]),
            ("mad.wide.u32 %a, %v, 4, %y; st.global.u32 [%a+8], %v;", &[1]),
            ("cvta.to.global.u64 %a, %z; atom.relaxed.gpu.global.add.u32 %v, [%a], 1; st.global.u32 [%x], 2;", &[0, 2]),
            ("setp.eq.u64 %p, %n, 0; selp.b64 %a, %x, %z, %p; st.u32 [%a], %v;", &[0, 2]),
            // An address from memory may be any, and so may one that is computed from none.
            ("ld.global.u64 %a, [%x]; st.global.u32 [%a], %v;", &[0, 1, 2]),
            ("mov.b64 %a, {%v, %w}; st.global.u32 [%a], %v;", &[0, 1, 2]),
            ("st.global.u32 [%n], %v;", &[0, 1, 2]),
            ("mov.u32 %v, %envreg2; cvt.u64.u32 %a, %v; selp.b64 %a, %a, %x, %p; st.u32 [%a], %v;", &[0, 1, 2]),
        ] {
            assert_eq!(written(body), Some(ranges.to_vec()), "{body}");
        }
        assert_eq!(written("add.u64 %a, %n, 200000; st.global.u32 [%a], %v;"), None, "an address that the text names");
    }
}
