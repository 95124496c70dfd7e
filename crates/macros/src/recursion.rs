//! Functions that call themselves. Those that call each other in a circle are found when a kernel is built.

use proc_macro2::Ident;
use syn::{Path, Result};

use crate::ast::{Block, Callee, ExprKind, Method, Owner};

/// Refuses the body of a function `name` that calls itself.
pub fn refuse(name: &Ident, body: Block) -> Result<Block> {
    let is_own = |path: &Path| {
        let mut segments = path.segments.iter();
        match (segments.next(), segments.next(), segments.next()) {
            (Some(only), None, _) => only.ident == *name,
            (Some(owner), Some(last), None) => last.ident == *name && (owner.ident == "self" || owner.ident == "Self"),
            _ => false,
        }
    };
    let mut refused: Option<syn::Error> = None;
    body.walk(&mut |x| {
        let ExprKind::Call { callee, .. } = &x.kind else { return };
        let calls_itself = match callee {
            Callee::Function(path) | Callee::Associated(syn::ExprPath { qself: None, path, .. }) => is_own(path),
            Callee::Method(Method { name: called, of: Owner::Written(of), .. }) => called == name && of.is_ident("Self"),
            Callee::Associated(_) | Callee::Method(_) | Callee::Parameter(_) => false,
        };
        if calls_itself {
            let message = format!(
                "`{name}` calls itself, and device functions are built in place, so this has no end; write the recursion as a loop"
            );
            let error = syn::Error::new(x.span, message);
            match &mut refused {
                Some(errors) => errors.combine(error),
                None => refused = Some(error),
            }
        }
    });
    refused.map_or(Ok(body), Err)
}
