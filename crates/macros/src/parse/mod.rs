//! From Rust's syntax to the subset of kernels. Everything outside it is refused here, at its own span, in words that
//! name the way out.

mod assertions;
mod calls;
mod choice;
mod names;
mod types;

use std::collections::HashMap;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Lit, Pat, Result, UnOp};

use crate::ast::{Block, Expr, ExprKind, Local, Pattern, Place, Statement, View};
use calls::{check_source, without_parentheses};
use types::check_cast;
pub use types::{check_type, class};

/// An error that underlines all of `at`.
pub fn error<T>(at: impl ToTokens, message: &str) -> Result<T> {
    Err(Error::new_spanned(at, message))
}

/// The variables in scope.
pub struct Parser {
    scopes: Vec<HashMap<String, Local>>,
    /// The labels of the loops around.
    labels: Vec<Option<String>>,
    /// The variables that are views, by number.
    views: HashMap<usize, View>,
    next: usize,
    pub returns: bool,
    /// Whether shared memory may be declared: at the top of a kernel.
    shared_allowed: bool,
    /// Whether a range may be inclusive: as the whole source of a `for`.
    inclusive_allowed: bool,
    is_kernel: bool,
}

impl Parser {
    pub fn new(is_kernel: bool) -> Self {
        Parser {
            scopes: vec![HashMap::new()],
            labels: Vec::new(),
            views: HashMap::new(),
            next: 0,
            returns: false,
            shared_allowed: false,
            inclusive_allowed: false,
            is_kernel,
        }
    }

    pub fn declare(&mut self, name: &Ident, mutable: bool) -> Local {
        let (name, number) = (name.clone(), self.next);
        let local = Local { mut_span: name.span(), name, mutable, number, is_view: false };
        self.next += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(local.name.to_string(), local.clone());
        }
        local
    }

    /// Notes that a variable is a view.
    pub fn is_view(&mut self, local: &Local, view: View) {
        self.views.insert(local.number, view);
    }

    fn view(&self, x: &Expr) -> Option<View> {
        match &x.kind {
            ExprKind::Local(local) => self.views.get(&local.number).copied(),
            _ => None,
        }
    }

    fn find(&self, name: &Ident) -> Option<Local> {
        let name = name.to_string();
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(&name))?;
        // Errors and lines belong to where it is used.
        Some(found.clone())
    }

    fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(HashMap::new());
        let parsed = parse(self);
        self.scopes.pop();
        parsed
    }

    fn in_loop<T>(&mut self, label: &Option<syn::Label>, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.labels.push(label.as_ref().map(|label| label.name.ident.to_string()));
        let parsed = parse(self);
        self.labels.pop();
        parsed
    }

    /// The body of the function: shared memory may be declared directly in it.
    pub fn body(&mut self, block: &syn::Block) -> Result<Block> {
        self.statements(block, true)
    }

    fn block(&mut self, block: &syn::Block) -> Result<Block> {
        self.scoped(|parser| parser.statements(block, false))
    }

    fn statements(&mut self, source: &syn::Block, top: bool) -> Result<Block> {
        let mut block = Block { statements: Vec::new(), value: None, span: source.brace_token.span.join() };
        // The errors of all statements are reported at once.
        let mut refused: Option<Error> = None;
        for (number, statement) in source.stmts.iter().enumerate() {
            let last = number + 1 == source.stmts.len();
            match self.statement(statement, top) {
                Ok(Statement::Do(x)) if last && matches!(statement, syn::Stmt::Expr(_, None)) => {
                    block.value = Some(Box::new(x));
                }
                Ok(parsed) => block.statements.push(parsed),
                Err(error) => match &mut refused {
                    Some(errors) => errors.combine(error),
                    None => refused = Some(error),
                },
            }
        }
        refused.map_or(Ok(block), Err)
    }

    fn statement(&mut self, statement: &syn::Stmt, top: bool) -> Result<Statement> {
        match statement {
            syn::Stmt::Local(local) => self.binding(local, top),
            syn::Stmt::Item(item) => error(item, "a kernel cannot hold items; move this out of the function"),
            syn::Stmt::Expr(x, _) => self.expr(x).map(Statement::Do),
            syn::Stmt::Macro(statement) => self.macro_call(&statement.mac).map(Statement::Do),
        }
    }

    fn binding(&mut self, local: &syn::Local, top: bool) -> Result<Statement> {
        let Some(init) = &local.init else {
            return error(local, "a variable in a kernel is given a value where it is declared: `let mut x = 0.0;`");
        };
        if let Some((_, otherwise)) = &init.diverge {
            return error(otherwise, "there is no `let … else` in kernels; use `if`");
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some((*typed.ty).clone())),
            pattern => (pattern, None),
        };
        if let Some(ty) = &ty {
            check_type(ty)?;
        }
        self.shared_allowed = top && self.is_kernel && matches!(pattern, Pat::Ident(_));
        let value = self.expr(&init.expr);
        self.shared_allowed = false;
        let value = value?;
        let pattern = self.pattern(pattern)?;
        let view = match &value.kind {
            ExprKind::Method { name, .. } if name == "shared_atomic" || name == "shared_atomic_at_launch" => {
                Some(View::Atomic)
            }
            ExprKind::Method { name, .. } if name == "shared" || name == "shared_at_launch" => Some(View::Shared),
            _ => self.view(&value),
        };
        if let (Pattern::Local(local), Some(view)) = (&pattern, view) {
            self.is_view(local, view);
        }
        Ok(Statement::Let { pattern, ty, value, span: local.let_token.span })
    }

    fn pattern(&mut self, pattern: &Pat) -> Result<Pattern> {
        match pattern {
            Pat::Ident(name) => {
                if name.by_ref.is_some() || name.subpat.is_some() {
                    return error(name, "patterns in kernels are names, `_`, tuples `(a, b)` and arrays `[y, x]`");
                }
                let local = self.declare(&name.ident, name.mutability.is_some());
                let mut_span = name.mutability.map_or(local.mut_span, |token| token.span);
                Ok(Pattern::Local(Local { mut_span, ..local }))
            }
            Pat::Wild(wild) => Ok(Pattern::Wild(wild.span())),
            Pat::Tuple(tuple) => tuple.elems.iter().map(|x| self.pattern(x)).collect::<Result<_>>().map(Pattern::Tuple),
            Pat::Slice(slice) => slice.elems.iter().map(|x| self.pattern(x)).collect::<Result<_>>().map(Pattern::Array),
            Pat::Paren(inner) => self.pattern(&inner.pat),
            other => error(other, "patterns in kernels are names, `_`, tuples `(a, b)` and arrays `[y, x]`"),
        }
    }

    fn boxed(&mut self, x: &syn::Expr) -> Result<Box<Expr>> {
        self.expr(x).map(Box::new)
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e syn::Expr>) -> Result<Vec<Expr>> {
        all.into_iter().map(|x| self.expr(x)).collect()
    }

    fn expr(&mut self, x: &syn::Expr) -> Result<Expr> {
        let span = x.span();
        let shared_allowed = std::mem::replace(&mut self.shared_allowed, false);
        let kind = match x {
            syn::Expr::Lit(literal) => ExprKind::Literal(number(&literal.lit)?),
            syn::Expr::Paren(inner) => return self.expr(&inner.expr),
            syn::Expr::Group(inner) => return self.expr(&inner.expr),
            syn::Expr::Path(path) => self.path(path)?,
            syn::Expr::Unary(unary) => match unary.op {
                UnOp::Neg(_) => match &*unary.expr {
                    syn::Expr::Lit(literal) => ExprKind::NegativeLiteral(number(&literal.lit)?),
                    operand => ExprKind::Negate(self.boxed(operand)?),
                },
                UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)?),
                _ => ExprKind::Deref(self.boxed(&unary.expr)?),
            },
            syn::Expr::Binary(binary) => self.binary(binary)?,
            syn::Expr::Assign(assign) => {
                let value = self.boxed(&assign.right)?;
                ExprKind::Assign(Box::new(self.place(&assign.left)?), value)
            }
            syn::Expr::Index(index) => {
                if let syn::Expr::Range(range) = &*index.index {
                    return error(range, "there are no slices in kernels; pass a view of the part you want, or index");
                }
                let base = self.boxed(&index.expr)?;
                match self.view(&base) {
                    Some(View::PerItem) => {
                        return error(
                            x,
                            "a `PerItem` view has no elements by index, since each belongs to one thread; write \
                             `for (i, item) in acc.items(&mut out) { *item = … }`",
                        );
                    }
                    Some(View::Atomic) => {
                        return error(
                            x,
                            "`Atomic` memory is touched by atomic operations alone: `x.load(i)`, `x.store(i, value)`, \
                             `x.fetch_add(i, value)`; for plain accesses take `Shared`",
                        );
                    }
                    _ => {}
                }
                ExprKind::Index(base, self.boxed(&index.index)?)
            }
            syn::Expr::MethodCall(call) => self.method(call, shared_allowed)?,
            syn::Expr::Call(call) => self.call(call)?,
            syn::Expr::Cast(cast) => {
                check_cast(&cast.ty)?;
                ExprKind::Cast(self.boxed(&cast.expr)?, (*cast.ty).clone())
            }
            syn::Expr::If(branch) => {
                if let syn::Expr::Let(binding) = &*branch.cond {
                    return error(binding, "there is no `if let` in kernels; compare: `if x == 3`");
                }
                let condition = self.boxed(&branch.cond)?;
                let then = self.block(&branch.then_branch)?;
                let otherwise = match &branch.else_branch {
                    Some((_, otherwise)) => Some(self.boxed(otherwise)?),
                    None => None,
                };
                ExprKind::If { condition, then, otherwise }
            }
            syn::Expr::While(repeat) => {
                if let syn::Expr::Let(binding) = &*repeat.cond {
                    return error(binding, "there is no `while let` in kernels; use `loop` and `break`");
                }
                let condition = self.boxed(&repeat.cond)?;
                let body = self.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                ExprKind::While { label: label(&repeat.label), condition, body }
            }
            syn::Expr::Loop(repeat) => {
                let body = self.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                ExprKind::Loop { label: label(&repeat.label), body }
            }
            syn::Expr::ForLoop(repeat) => {
                self.inclusive_allowed = matches!(without_parentheses(&repeat.expr), syn::Expr::Range(_));
                let source = self.boxed(&repeat.expr)?;
                check_source(&source)?;
                let (pattern, body) = self.scoped(|parser| {
                    let pattern = parser.pattern(&repeat.pat)?;
                    let body = parser.in_loop(&repeat.label, |parser| parser.block(&repeat.body))?;
                    Ok((pattern, body))
                })?;
                ExprKind::For { label: label(&repeat.label), pattern, source, body }
            }
            syn::Expr::Block(block) => {
                if let Some(label) = &block.label {
                    return error(label, "blocks in kernels have no labels; label a loop");
                }
                ExprKind::Block(self.block(&block.block)?)
            }
            syn::Expr::Match(choice) => self.choice(choice)?,
            syn::Expr::Break(leave) => {
                if let Some(value) = &leave.expr {
                    return error(value, "`break` has no value in kernels; assign to a `let mut` before the loop");
                }
                self.check_label(x, &leave.label)?;
                ExprKind::Break(leave.label.clone())
            }
            syn::Expr::Continue(next) => {
                self.check_label(x, &next.label)?;
                ExprKind::Continue(next.label.clone())
            }
            syn::Expr::Return(leave) => {
                self.returns = true;
                ExprKind::Return(match &leave.expr {
                    Some(value) => Some(self.boxed(value)?),
                    None => None,
                })
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elems)?),
            syn::Expr::Field(field) => match &field.member {
                syn::Member::Unnamed(index) => ExprKind::Field(self.boxed(&field.base)?, index.clone()),
                syn::Member::Named(name) => {
                    return error(
                        name,
                        "there are no structs in kernels; use a tuple, or pass the fields by themselves",
                    );
                }
            },
            syn::Expr::Array(array) => ExprKind::Array(self.exprs(&array.elems)?),
            syn::Expr::Repeat(repeat) => ExprKind::Repeat(self.boxed(&repeat.expr)?, (*repeat.len).clone()),
            syn::Expr::Range(range) => {
                let (Some(begin), Some(end)) = (&range.start, &range.end) else {
                    return error(range, "a range in a kernel has a begin and an end: `0..n`");
                };
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                if inclusive && !std::mem::replace(&mut self.inclusive_allowed, false) {
                    return error(range, "an inclusive range stands alone: `for i in 0..=n`; here write `0..n + 1`");
                }
                self.inclusive_allowed = false;
                ExprKind::Range { begin: self.boxed(begin)?, end: self.boxed(end)?, inclusive }
            }
            syn::Expr::Reference(reference) => match (&reference.mutability, &*reference.expr) {
                (Some(_), inner @ syn::Expr::Path(_)) => ExprKind::Exclusive(self.boxed(inner)?),
                _ => {
                    return error(
                        reference,
                        "there are no references in kernels, but `acc.items(&mut out)`; pass the value or the view itself",
                    );
                }
            },
            syn::Expr::Macro(call) => return self.macro_call(&call.mac),
            other => return refuse(other),
        };
        Ok(Expr { kind, span })
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        if let Some(qself) = &path.qself {
            return error(&qself.ty, "qualified paths are not for kernels; write `T::ZERO`");
        }
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.find(name)
        {
            let is_view = self.views.contains_key(&local.number);
            return Ok(ExprKind::Local(Local { name: name.clone(), is_view, ..local }));
        }
        Ok(ExprKind::Constant(path.path.clone()))
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Result<ExprKind> {
        if let Some(op) = plain(&binary.op) {
            let value = self.boxed(&binary.right)?;
            return Ok(ExprKind::AssignWith(op, Box::new(self.place(&binary.left)?), value));
        }
        Ok(ExprKind::Binary(binary.op, self.boxed(&binary.left)?, self.boxed(&binary.right)?))
    }

    fn place(&mut self, x: &syn::Expr) -> Result<Place> {
        match self.expr(x)?.kind {
            ExprKind::Local(local) => Ok(Place::Local(local)),
            ExprKind::Index(base, _) if matches!(self.view(&base), Some(View::Read | View::ReadLine)) => error(
                x,
                "nobody writes to a `Read` view; take `PerItem` where each element has its one thread, `Shared` where \
                 threads write as they like",
            ),
            ExprKind::Index(base, index) => Ok(Place::Index(*base, *index)),
            ExprKind::Deref(item) => Ok(Place::Deref(*item)),
            ExprKind::Field(..) => error(x, "a tuple is assigned as a whole: `pair = (a, b);`"),
            _ => error(x, "a kernel assigns to variables, elements `x[i]`, and items `*x`"),
        }
    }

    fn check_label(&self, jump: &syn::Expr, label: &Option<syn::Lifetime>) -> Result<()> {
        let Some(label) = label else {
            return if self.labels.is_empty() { error(jump, "there is no loop around this") } else { Ok(()) };
        };
        let name = label.ident.to_string();
        if self.labels.iter().any(|known| known.as_ref() == Some(&name)) {
            return Ok(());
        }
        error(label, "no loop around has this label")
    }
}

fn label(label: &Option<syn::Label>) -> Option<syn::Lifetime> {
    label.as_ref().map(|label| label.name.clone())
}

fn number(literal: &Lit) -> Result<Lit> {
    match literal {
        Lit::Int(number) if matches!(number.suffix(), "usize" | "isize" | "u128" | "i128") => {
            error(number, "kernels know 8 to 64 bits; indices and extents are `u32`")
        }
        Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) => Ok(literal.clone()),
        other => error(other, "there is no text in kernels; literals are numbers, `true` and `false`"),
    }
}

/// The operator of a compound assignment.
fn plain(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        _ => return None,
    })
}

fn refuse<T>(x: &syn::Expr) -> Result<T> {
    match x {
        syn::Expr::Closure(_) => {
            error(x, "there are no closures in kernels; write a function and mark it `#[device_fn]`")
        }
        syn::Expr::Unsafe(unsafe_block) => {
            error(unsafe_block.unsafe_token, "there is nothing unsafe in kernels: every access is checked")
        }
        syn::Expr::Struct(_) => error(x, "there are no structs in kernels; use numbers, tuples and arrays"),
        syn::Expr::Try(_) => error(x, "there is no `?` in kernels; write `assert!(…)`, which the launch reports"),
        syn::Expr::Async(_) | syn::Expr::Await(_) => error(x, "a kernel is not asynchronous; its launch is"),
        syn::Expr::Let(_) => error(x, "there is no `let` in conditions of kernels; compare: `if x == 3`"),
        _ => error(
            x,
            "this is outside the subset of Rust that kernels are written in (see the documentation of `kernel`)",
        ),
    }
}
