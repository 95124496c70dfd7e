//! Edits of a SPIR-V module that belong to one change, or to two that may clash.

use std::mem::discriminant;

use wattle_modules::spirv::Edit;

use super::words;

/// Makes accesses that were given an order relaxed; returns what that is in words, and `None` where other edits are.
pub(in crate::advice) fn relax(edits: &mut [(usize, Edit)], text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for (_, edit) in edits {
        let Edit::Atomic(_, semantics) = edit else { return None };
        text = words::with_semantics(&text, std::mem::replace(semantics, 0), 0);
    }
    Some(text)
}

/// Whether some instruction is changed in the same way by both. What is put before or behind it is put there by both.
pub(in crate::advice) fn clash(own: &[(usize, Edit)], others: &[(usize, Edit)]) -> bool {
    let replaces = |edit: &Edit| matches!(edit, Edit::Atomic(..) | Edit::Update(_) | Edit::Add(..) | Edit::Nothing);
    let is_like = |one: &Edit, other: &Edit| {
        discriminant(one) == discriminant(other) && !matches!(one, Edit::Before(_) | Edit::After(_))
            || replaces(one) && replaces(other)
    };
    own.iter().any(|(at, edit)| others.iter().any(|(also, with)| at == also && is_like(edit, with)))
}
