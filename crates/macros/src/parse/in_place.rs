//! `&mut` arguments that are parts of arrays and of items, `f(&mut a[i])`: the part is taken out before the call and
//! put back after it, as `let mut part = a[i]; f(&mut part); a[i] = part;` does. So a device function has variables of
//! the thread's own alone, on every device.
//!
//! A function of a type is a value that takes and returns values, so it is lent all that it changes, `self` too: the
//! value is given with the call, and put back after it. Rust lets nobody else see the place meanwhile, so this is the
//! same.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident};
use syn::punctuated::Punctuated;
use syn::{Result, Token};

use super::{Parser, error, without_parentheses};
use crate::ast::{Block, Callee, Expr, ExprKind, Local, Pattern, Place, Statement};

/// What is given to be changed: the variable that it is of, and how it is written.
struct Part {
    of: Local,
    x: syn::Expr,
}

/// The way to a place: the number of its variable, and from there the fields by their names, and `None` for an index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way(usize, Vec<Option<String>>);

impl Way {
    /// Whether the two may be one place, or one a part of the other.
    fn overlaps(&self, other: &Way) -> bool {
        let parts = self.1.iter().zip(&other.1).find(|(one, another)| one != another || one.is_none());
        let is_apart = matches!(parts, Some((Some(_), Some(_))));
        self.0 == other.0 && !is_apart
    }

    fn then(mut self, further: impl IntoIterator<Item = Option<String>>) -> Way {
        self.1.extend(further);
        self
    }
}

impl Part {
    fn way(&self) -> Way {
        Way(self.of.number, fields(&self.x))
    }
}

/// A call that changes parts of variables or of memory in their places, as far as it has been parsed.
#[derive(Default)]
struct InPlace {
    arguments: Vec<Expr>,
    /// The statements before the call: they compute indices and arguments, each once.
    before: Vec<Statement>,
    /// The statements after the call, which write back what it has changed.
    after: Vec<Statement>,
    /// The parts that the call may change.
    taken: Vec<Part>,
    /// The names of what comes back beside the result.
    backs: Vec<Pattern>,
}

impl Parser {
    /// A call of `callee`, of a method with its receiver.
    pub(super) fn call_of(
        &mut self,
        callee: Callee,
        receiver: Option<&syn::Expr>,
        others: &Punctuated<syn::Expr, Token![,]>,
        span: Span,
    ) -> Result<ExprKind> {
        let lends = match callee {
            Callee::Associated(_) | Callee::Method(_) => true,
            Callee::Function(_) | Callee::Parameter(_) => false,
        };
        let parts: Vec<_> = others.iter().map(|x| self.part(x, lends)).collect::<Result<_>>()?;
        let on = receiver.and_then(|receiver| self.changeable(receiver));
        // What is no variable is worked out before the arguments, and once: in the code it would stand twice.
        let is_made = receiver.is_some_and(|receiver| matches!(root(receiver), (None, _) | (_, true)));
        if parts.iter().all(Option::is_none) && on.is_none() && !is_made {
            let mut arguments =
                receiver.map(|receiver| self.receiver(receiver)).transpose()?.into_iter().collect::<Vec<_>>();
            arguments.extend(self.arguments(others)?);
            self.adapt_all(&mut arguments);
            return Ok(ExprKind::Call { callee, arguments });
        }
        self.scoped(|parser| {
            let mut in_place = InPlace::default();
            let calls = parser.called_on.len();
            let on = match on {
                Some(on) => {
                    parser.called_on.push(on.way());
                    let x = parser.with_indices(on.x.clone(), &mut in_place.before)?;
                    in_place.taken.push(on);
                    Some(x)
                }
                None => {
                    let receiver = receiver.map(|receiver| parser.receiver(receiver)).transpose()?;
                    let receiver = receiver.map(|receiver| parser.held(receiver, "argument", &mut in_place.before));
                    in_place.arguments.extend(receiver);
                    None
                }
            };
            for (x, part) in others.iter().zip(parts) {
                match part {
                    Some(part) => parser.give_part(x, part, lends, &mut in_place)?,
                    None => {
                        let argument = parser.argument(x)?;
                        // What a method changes is read behind the arguments.
                        let is_last = on.is_some() && others.len() == 1;
                        let argument = match is_last {
                            true => argument,
                            false => parser.held(argument, "argument", &mut in_place.before),
                        };
                        in_place.arguments.push(argument);
                    }
                }
            }
            parser.called_on.truncate(calls);
            parser.call_in_place(callee, on, in_place, span)
        })
    }

    /// Gives a part of a variable or of memory for a parameter that is `&mut`: what `x` means, which is written back
    /// after the call.
    fn give_part(&mut self, x: &syn::Expr, part: Part, lends: bool, in_place: &mut InPlace) -> Result<()> {
        if in_place.taken.iter().any(|taken| taken.way().overlaps(&part.way())) {
            let message =
                format!("two parts of `{}` are given at once; take one out: `let mut e = …; f(&mut e);`", part.of.name);
            return error(x, &message);
        }
        let place = self.with_indices(part.x.clone(), &mut in_place.before)?;
        in_place.taken.push(part);
        let (value, place) = (self.expr(&place)?, self.place(&place)?);
        let at = value.span;
        let back = if lends {
            in_place.arguments.push(Expr { kind: ExprKind::Lent(Box::new(value)), span: at });
            let back = self.unnamed("back");
            in_place.backs.push(Pattern::Local(back.clone()));
            back
        } else {
            let part = Local { mutable: true, ..self.unnamed("part") };
            in_place.before.push(binding(Pattern::Local(part.clone()), value));
            let variable = Box::new(variable(&part, at));
            in_place.arguments.push(Expr { kind: ExprKind::Exclusive(variable), span: at });
            part
        };
        in_place.after.push(Statement::Do(put(place, &back, at)));
        Ok(())
    }

    /// The call itself, with the statements before and after it. `on` is what a method may change that is called on it,
    /// the first of the parts that were taken.
    fn call_in_place(
        &mut self,
        callee: Callee,
        on: Option<syn::Expr>,
        in_place: InPlace,
        span: Span,
    ) -> Result<ExprKind> {
        let InPlace { mut arguments, before, after, taken, backs } = in_place;
        let result = self.unnamed("result");
        // As the function returns them: the first one outermost.
        let pattern = backs
            .into_iter()
            .rev()
            .fold(Pattern::Local(result.clone()), |result, back| Pattern::Tuple(vec![result, back], span));
        let held = Block { statements: before, value: None, span };
        let call = match on {
            Some(x) => {
                let (of, way) = (&taken[0].of, taken[0].way());
                let changes = |x: &Expr| changes(x, &way);
                if held.any(&changes) || arguments.iter().any(|x| x.any(&changes)) {
                    let message = format!(
                        "the arguments change `{0}`, on which the method is called; work them out before: `let n = …; \
                         {0}.{1}(n)`",
                        of.display(),
                        method(&callee)
                    );
                    return Err(syn::Error::new(span, message));
                }
                let (value, place) = (self.expr(&x)?, self.place(&x)?);
                let at = value.span;
                arguments.insert(0, value);
                self.adapt_all(&mut arguments);
                let back = self.unnamed("back");
                let put = put(place, &back, at);
                Statement::CallOn {
                    pattern,
                    back,
                    call: Expr { kind: ExprKind::Call { callee, arguments }, span },
                    put,
                }
            }
            None => {
                self.adapt_all(&mut arguments);
                binding(pattern, Expr { kind: ExprKind::Call { callee, arguments }, span })
            }
        };
        let mut statements = held.statements;
        statements.push(call);
        statements.extend(after);
        Ok(ExprKind::Block(Block { statements, value: Some(Box::new(variable(&result, span))), span }))
    }

    /// What a method may change that is called on it: a variable that is `mut`, an item, or a part of one.
    fn changeable(&self, x: &syn::Expr) -> Option<Part> {
        let x = without_parentheses(x);
        let of = self.find(root(x).0?)?;
        let is_own = (of.mutable || of.is_item) && !self.views.contains_key(&of.number);
        let part = Part { x: in_its_place(&of, x), of };
        (is_own && !self.called_on.iter().any(|on| on.overlaps(&part.way()))).then_some(part)
    }

    /// The receiver of a method that does not change it: an item by its name, as Rust takes what a reference refers to.
    pub(super) fn receiver(&mut self, x: &syn::Expr) -> Result<Expr> {
        let Expr { kind, span } = self.base(x)?;
        let kind = match kind {
            ExprKind::Local(local) if local.is_item => {
                ExprKind::Deref(Box::new(Expr { kind: ExprKind::Local(local), span }))
            }
            kind => kind,
        };
        Ok(Expr { kind, span })
    }

    /// The part that is taken out for an argument; none where it is a value, or a variable that the function can have
    /// itself: one of a type is lent all of them.
    fn part(&self, x: &syn::Expr, lends: bool) -> Result<Option<Part>> {
        let (of, is_name) = match without_parentheses(x) {
            syn::Expr::Reference(reference) if reference.mutability.is_some() => (&*reference.expr, false),
            // An item is passed on by its name, and so is a `&mut` parameter.
            x @ syn::Expr::Path(_) => (x, true),
            _ => return Ok(None),
        };
        let (root, is_within) = root(of);
        let Some(local) = root.and_then(|root| self.find(root)) else { return Ok(None) };
        if is_name && !local.is_item && !(lends && local.is_reference) {
            return Ok(None);
        }
        if self.views.contains_key(&local.number) {
            return match is_within {
                true => error(
                    x,
                    "`&mut` is for what no other thread touches; take the element out: `let mut e = x[i]; f(&mut e); x[i] = e;`",
                ),
                false => Ok(None),
            };
        }
        let is_taken = is_within || local.is_item || lends;
        Ok(is_taken.then(|| Part { x: in_its_place(&local, without_parentheses(of)), of: local }))
    }

    /// A value that is worked out before those behind it.
    fn held(&mut self, x: Expr, what: &str, before: &mut Vec<Statement>) -> Expr {
        let may_change = |x: &Expr| matches!(&x.kind, ExprKind::Local(local) if local.mutable || local.is_later);
        let is_lent = matches!(x.kind, ExprKind::Exclusive(_));
        if x.is_pure() && (is_lent || !x.any(&may_change)) {
            return x;
        }
        let (local, span) = (self.unnamed(what), x.span);
        before.push(binding(Pattern::Local(local.clone()), x));
        variable(&local, span)
    }

    /// Rewrites a place so that its indices are computed once, by statements in `before`.
    fn with_indices(&mut self, place: syn::Expr, before: &mut Vec<Statement>) -> Result<syn::Expr> {
        Ok(match place {
            syn::Expr::Index(mut index) => {
                index.expr = Box::new(self.with_indices(*index.expr, before)?);
                let is_fixed = match without_parentheses(&index.index) {
                    syn::Expr::Lit(_) => true,
                    syn::Expr::Path(path) => {
                        let local = path.path.get_ident().and_then(|name| self.find(name));
                        local.is_none_or(|local| !local.mutable && !local.is_later)
                    }
                    _ => false,
                };
                if !is_fixed && !matches!(&*index.index, syn::Expr::Range(_)) {
                    let value = self.expr(&index.index)?;
                    let name: Ident = format_ident!("__wattle_at{}", self.next, span = Span::mixed_site());
                    let local = self.declare(&name, false);
                    before.push(binding(Pattern::Local(local), value));
                    *index.index = syn::parse_quote!(#name);
                }
                syn::Expr::Index(index)
            }
            syn::Expr::Field(mut field) => {
                field.base = Box::new(self.with_indices(*field.base, before)?);
                syn::Expr::Field(field)
            }
            syn::Expr::Paren(inner) => self.with_indices(*inner.expr, before)?,
            place => place,
        })
    }
}

/// The variable that a place is of, and whether an index is on the way.
fn root(x: &syn::Expr) -> (Option<&Ident>, bool) {
    match without_parentheses(x) {
        syn::Expr::Path(path) => (path.path.get_ident(), false),
        syn::Expr::Index(index) => (root(&index.expr).0, true),
        syn::Expr::Field(field) => root(&field.base),
        syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => root(&unary.expr),
        _ => (None, false),
    }
}

/// The way from its variable to a part: the fields by their names, and `None` for an index.
fn fields(x: &syn::Expr) -> Vec<Option<String>> {
    match without_parentheses(x) {
        syn::Expr::Index(index) => [fields(&index.expr), vec![None]].concat(),
        syn::Expr::Field(field) => {
            [fields(&field.base), vec![Some(field.member.to_token_stream().to_string())]].concat()
        }
        _ => Vec::new(),
    }
}

fn variable(local: &Local, span: Span) -> Expr {
    Expr { kind: ExprKind::Local(local.clone()), span }
}

fn binding(pattern: Pattern, value: Expr) -> Statement {
    let span = value.span;
    Statement::Let { pattern, ty: None, value, otherwise: None, span }
}

/// The assignment of a variable to a place.
fn put(place: Place, back: &Local, span: Span) -> Expr {
    Expr { kind: ExprKind::Assign(Box::new(place), Box::new(variable(back, span))), span }
}

/// What is changed, as what it is assigned to: an item and a `&mut` parameter are references by their names.
fn in_its_place(of: &Local, x: &syn::Expr) -> syn::Expr {
    match x {
        syn::Expr::Path(name) if of.is_item || of.is_reference => syn::parse_quote!(*#name),
        x => x.clone(),
    }
}

/// Whether an expression itself changes a place, what it is a part of, or a part of it.
fn changes(x: &Expr, at: &Way) -> bool {
    let names = |members: &[syn::Member]| -> Vec<_> { members.iter().map(name).collect() };
    let changed = match &x.kind {
        ExprKind::Exclusive(of) => way(of),
        ExprKind::Assign(place, _) | ExprKind::AssignWith(_, place, _) => match &**place {
            Place::Variable(local, members) => Some(Way(local.number, names(members))),
            Place::Index(base, _) => way(base).map(|way| way.then([None])),
            Place::Part { base, fields, .. } => way(base).map(|way| way.then([None]).then(names(fields))),
            Place::Deref(base) | Place::Element(base, _) => way(base),
        },
        _ => return false,
    };
    // Where no way shows, whatever names the variable may change it.
    let names_it = || x.any(&|x| matches!(&x.kind, ExprKind::Local(local) if local.number == at.0));
    changed.map_or_else(names_it, |changed| changed.overlaps(at))
}

/// The way to what an expression is.
fn way(x: &Expr) -> Option<Way> {
    match &x.kind {
        ExprKind::Local(local) => Some(Way(local.number, Vec::new())),
        ExprKind::Field(base, member) => way(base).map(|way| way.then([name(member)])),
        ExprKind::Index(base, _) => way(base).map(|way| way.then([None])),
        ExprKind::Element(base, members) => way(base).map(|way| way.then(members.iter().map(name))),
        ExprKind::Deref(base) => way(base),
        _ => None,
    }
}

fn name(member: &syn::Member) -> Option<String> {
    Some(member.to_token_stream().to_string())
}

/// The name of the method that is called.
fn method(callee: &Callee) -> String {
    match callee {
        Callee::Function(path) | Callee::Associated(syn::ExprPath { path, .. }) => {
            path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
        }
        Callee::Method(method) => method.name.to_string(),
        Callee::Parameter(local) => local.name.to_string(),
    }
}
