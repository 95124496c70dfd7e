//! Functions as arguments of device functions: by their names, and as closures.

use std::collections::HashSet;

use syn::{Error, Pat, Path, Result, ReturnType};

use super::{Parser, check_type, class, error};
use crate::ast::{Class, Closure, ExprKind, Pattern, View};
use crate::rules::Rules;

/// A closure that stands outside of kernels.
pub fn closure(closure: &syn::ExprClosure) -> Result<Closure> {
    let mut parser = Parser::new(false, &syn::Generics::default(), Rules::default());
    parser.assume_generic();
    parser.outside = Some(HashSet::new());
    parser.own_closure(closure)
}

impl Parser {
    /// An argument that is a path: a variable, a constant, or a function, whose name is in lower case as a rule.
    pub(super) fn argument_path(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        let is_variable = path.path.get_ident().is_some_and(|name| self.find(name).is_some());
        let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        if path.qself.is_none() && !is_variable && name.starts_with(|first: char| first.is_lowercase() || first == '_')
        {
            self.check_captured(&path.path, false)?;
            return Ok(ExprKind::Function(path.path.clone()));
        }
        self.path(path)
    }

    /// A closure as an argument within a kernel.
    pub(super) fn closure(&mut self, closure: &syn::ExprClosure) -> Result<Closure> {
        let mut parser = Parser::new(false, &syn::Generics::default(), self.rules);
        parser.is_generic = self.is_generic;
        parser.numbers = self.numbers.clone();
        parser.lengths = self.lengths.clone();
        let names = self.scopes.iter().flat_map(|scope| scope.keys().map(|name| name.text.clone()));
        parser.outside = Some(names.chain(self.outside.iter().flatten().cloned()).collect());
        parser.own_closure(closure)
    }

    fn own_closure(&mut self, closure: &syn::ExprClosure) -> Result<Closure> {
        if closure.asyncness.is_some() || closure.constness.is_some() {
            return error(closure, "a device function is a plain closure: `|x, y| x + y`");
        }
        let mut parameters = Vec::new();
        for input in &closure.inputs {
            let (pattern, ty) = match input {
                Pat::Type(typed) => (&*typed.pat, Some((*typed.ty).clone())),
                pattern => (pattern, None),
            };
            let class = ty.as_ref().map(class).transpose()?;
            let pattern = self.pattern(pattern, false)?;
            match (&class, &pattern) {
                (Some(Class::View(View::PerItem) | Class::Acc(_) | Class::Exclusive | Class::Function), _) => {
                    return error(input, "a closure takes values and the views `Read`, `Shared` and `Atomic`");
                }
                (Some(Class::View(view)), Pattern::Local(local)) => self.is_view(local, *view),
                _ => {}
            }
            match (&pattern, &ty) {
                (Pattern::Local(local), Some(ty)) => self.has_type(local, ty),
                (_, Some(_)) => {}
                // rustc learns its type from what is done with it.
                (pattern, None) => self.mark_no_structs(pattern),
            }
            parameters.push((pattern, ty));
        }
        let result = match &closure.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => {
                check_type(ty)?;
                Some((**ty).clone())
            }
        };
        let body = match &*closure.body {
            syn::Expr::Block(block) if block.label.is_none() => self.body(&block.block)?,
            x => {
                let mut value = self.expr(x)?;
                self.adapt(&mut value);
                let span = value.span;
                crate::ast::Block { statements: Vec::new(), value: Some(Box::new(value)), span }
            }
        };
        if self.returns && result.is_none() {
            return error(closure, "a closure with `return` says what it returns: `|x: f32| -> f32 { … }`");
        }
        Ok(Closure { parameters, result, body, returns: self.returns })
    }

    /// Refuses what a closure would capture. `is_value` says whether a value is meant: a name of one segment in lower
    /// case is a variable then, and no function.
    pub(super) fn check_captured(&self, path: &Path, is_value: bool) -> Result<()> {
        let (Some(outside), Some(name)) = (&self.outside, path.get_ident()) else { return Ok(()) };
        let text = name.to_string();
        if outside.contains(&text) || is_value && text.starts_with(|first: char| first.is_lowercase()) {
            let message = format!(
                "`{text}` is not a parameter of this closure, and a device function captures nothing; make it one, \
                 `|…, {text}| …`, and pass the value where the closure is called (the kernel takes it as a parameter); a \
                 constant has a name in upper case"
            );
            return Err(Error::new_spanned(name, message));
        }
        Ok(())
    }
}
