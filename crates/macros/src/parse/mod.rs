//! From Rust's syntax to the subset of kernels. Everything outside it is refused here, at its own span, in words that
//! name the way out.

mod absent;
mod assertions;
mod bindings;
mod bounds;
mod calls;
mod choice;
mod chosen_views;
mod closures;
mod in_place;
mod indices;
mod jumps;
mod literals;
mod markers;
mod message;
mod names;
mod operands;
mod patterns;
mod places;
mod receivers;
mod scope;
mod structs;
mod types;
mod words;

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Result, UnOp};

use crate::ast::{Block, BreakTarget, Change, Expr, ExprKind, Local, Pattern, Statement, View};
use crate::rules::{Rules, contracted, contracted_assignment};
pub use bounds::{is_bound_of_elements, is_bound_of_library, is_bound_of_numbers};
pub use calls::is_range_or_map;
use calls::without_parentheses;
pub use closures::closure;
use in_place::Way;
use jumps::{Around, AroundKind};
use literals::{number, numbers};
pub use markers::check_parameter as check_marker_parameter;
pub use names::{OfNumbers, SHARED, instead, is_faulting};
use receivers::OwnGenerics;
use scope::Scope;
use types::check_cast;
pub use types::{check_type, class, is_half, is_number};

/// An error that underlines all of `at`.
pub fn error<T>(at: impl ToTokens, message: &str) -> Result<T> {
    Err(Error::new_spanned(at, message))
}

/// The variables in scope.
pub struct Parser {
    scopes: Vec<Scope>,
    /// The loops and labelled blocks around, outermost first.
    around: Vec<Around>,
    targets: BreakTarget,
    /// The variables that are views, by number.
    views: HashMap<usize, View>,
    /// The variables that are the `Acc`, by number.
    accs: HashSet<usize>,
    /// The places on which methods are called whose arguments are being parsed: these change none of them.
    called_on: Vec<Way>,
    /// The types of variables, by number, where they are written.
    types: HashMap<usize, syn::Type>,
    /// The variables that are numbers, truth values or masks, by number, as far as it shows without their types.
    known_numbers: HashSet<usize>,
    /// The variables that are numbers or made of them, by number, likewise.
    no_structs: HashSet<usize>,
    /// The variables that are nothing that the library gives, by number, as far as it shows without their types.
    users: HashSet<usize>,
    own_generics: OwnGenerics,
    /// How many arguments the variables that are functions take, by number, where that is written.
    counts: HashMap<usize, usize>,
    next: usize,
    pub returns: bool,
    /// Whether shared memory may be declared: at the top of a kernel.
    shared_allowed: bool,
    /// Whether a range may be inclusive: as the whole source of a `for`.
    inclusive_allowed: bool,
    /// Whether the pattern of a `for` is being parsed, which has an index in each place.
    in_for: bool,
    is_kernel: bool,
    rules: Rules,
    /// Whether the function has type parameters.
    is_generic: bool,
    /// The type parameters that are numbers.
    numbers: Vec<Ident>,
    /// Constants that are known to be `usize`: const generics, and those in the body.
    lengths: Vec<Ident>,
    /// The variables around the closure that is being parsed, which it cannot capture; `None` outside of closures.
    outside: Option<HashSet<String>>,
}

impl Parser {
    pub fn new(is_kernel: bool, generics: &syn::Generics, rules: Rules) -> Self {
        let lengths = generics.const_params().filter(|constant| is_length(&constant.ty));
        Parser {
            scopes: vec![Scope::new()],
            around: Vec::new(),
            targets: 0,
            views: HashMap::new(),
            accs: HashSet::new(),
            called_on: Vec::new(),
            types: HashMap::new(),
            known_numbers: HashSet::new(),
            no_structs: HashSet::new(),
            users: HashSet::new(),
            own_generics: OwnGenerics::of(generics),
            counts: HashMap::new(),
            next: 0,
            returns: false,
            shared_allowed: false,
            inclusive_allowed: false,
            in_for: false,
            is_kernel,
            rules,
            is_generic: generics.type_params().next().is_some(),
            numbers: numbers(generics),
            lengths: lengths.map(|constant| constant.ident.clone()).collect(),
            outside: None,
        }
    }

    /// The types may be generic ones of an `impl` or `trait` around the function.
    pub fn assume_generic(&mut self) {
        self.is_generic = true;
    }

    /// The body of the function: shared memory may be declared directly in it.
    pub fn body(&mut self, block: &syn::Block) -> Result<Block> {
        let mut body = self.statements(block, true)?;
        if let Some(value) = &mut body.value {
            self.adapt(value);
        }
        self.check_views(&body)?;
        Ok(body)
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
            syn::Stmt::Item(syn::Item::Const(item)) => {
                if is_length(&item.ty) {
                    self.lengths.push(item.ident.clone());
                }
                Ok(Statement::Const(item.clone()))
            }
            syn::Stmt::Item(item) => {
                error(item, "a kernel holds no items but constants; move this out of the function")
            }
            syn::Stmt::Expr(x, _) => self.expr(x).map(Statement::Do),
            syn::Stmt::Macro(statement) => self.macro_call(&statement.mac).map(Statement::Do),
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
            syn::Expr::Path(path) => match self.path(path)? {
                ExprKind::Local(local) if local.is_reference => {
                    let message = format!("`{0}` is a reference here; write `*{0}`", local.name);
                    return error(path, &message);
                }
                ExprKind::Local(local) if local.is_item => {
                    let message = format!("`{0}` is a reference to the element here; write `*{0}`", local.name);
                    return error(path, &message);
                }
                ExprKind::Local(local) if local.is_function => {
                    let message = format!(
                        "`{0}` is a function; call it, `{0}(x)`, or pass it to a device function that takes one",
                        local.name
                    );
                    return error(path, &message);
                }
                ExprKind::Constant(name) if name.path.get_ident().is_some_and(|name| self.lengths.contains(name)) => {
                    let name = name.to_token_stream();
                    return error(
                        path,
                        &format!("`{name}` is a `usize`, and kernels count with `u32`: write `{name} as u32`"),
                    );
                }
                kind => kind,
            },
            syn::Expr::Unary(unary) => match unary.op {
                UnOp::Neg(_) => match without_parentheses(&unary.expr) {
                    syn::Expr::Lit(literal) => ExprKind::NegativeLiteral(number(&literal.lit)?),
                    operand => {
                        let operands = self.operands(&[operand]);
                        ExprKind::Negate(self.boxed(operand)?, operands)
                    }
                },
                UnOp::Not(_) => ExprKind::Not(self.boxed(&unary.expr)?),
                _ => match self.base(&unary.expr)? {
                    Expr { kind: ExprKind::Local(local), .. } if local.is_reference || local.is_self() => {
                        ExprKind::Local(local)
                    }
                    item => ExprKind::Deref(Box::new(item)),
                },
            },
            syn::Expr::Binary(binary) => self.binary(binary)?,
            syn::Expr::Assign(assign) => self.assignment(assign)?,
            syn::Expr::Index(index) => {
                if let syn::Expr::Range(range) = &*index.index {
                    return error(range, "there are no slices in kernels; pass a view of the part you want, or index");
                }
                let base = Box::new(self.base(&index.expr)?);
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
                self.cast(&cast.expr, (*cast.ty).clone())?
            }
            syn::Expr::If(branch) => self.branch(branch)?,
            syn::Expr::While(repeat) => self.within(&repeat.label, AroundKind::While, |parser, target| {
                if let syn::Expr::Let(binding) = &*repeat.cond {
                    return parser.while_let(binding, repeat, target);
                }
                if choice::is_chain(&repeat.cond) {
                    return parser.while_chain(repeat, target);
                }
                let condition = parser.boxed(&repeat.cond)?;
                Ok(ExprKind::While { target, condition, body: parser.block(&repeat.body)? })
            })?,
            syn::Expr::Loop(repeat) => self.within(&repeat.label, AroundKind::Loop, |parser, target| {
                Ok(ExprKind::Loop { target, body: parser.block(&repeat.body)? })
            })?,
            syn::Expr::ForLoop(repeat) => {
                self.inclusive_allowed = matches!(without_parentheses(&repeat.expr), syn::Expr::Range(_));
                let source = self.source(&repeat.expr)?;
                indices::check_for(&repeat.pat, &source)?;
                self.scoped(|parser| {
                    parser.in_for = true;
                    let pattern = parser.pattern(&repeat.pat, false);
                    parser.in_for = false;
                    let pattern = pattern?;
                    parser.mark_items(&source, &pattern);
                    if let (Pattern::Local(local), Some(ty)) = (&pattern, parser.type_of(&repeat.expr))
                        && let Some(element) = Parser::element_of(&ty)
                    {
                        parser.has_type(local, &element);
                    }
                    parser.mark_counted(&repeat.expr, &source, &pattern);
                    parser.within(&repeat.label, AroundKind::For, |parser, target| {
                        Ok(ExprKind::For { target, pattern, source, body: parser.block(&repeat.body)? })
                    })
                })?
            }
            syn::Expr::Block(block) if block.label.is_some() => {
                self.within(&block.label, AroundKind::Block, |parser, target| {
                    Ok(ExprKind::Labelled { target, body: parser.block(&block.block)? })
                })?
            }
            syn::Expr::Block(block) => ExprKind::Block(self.block(&block.block)?),
            syn::Expr::Match(choice) => self.choice(choice)?,
            syn::Expr::Break(leave) => {
                let target = self.target(x, &leave.label, true)?;
                self.check_break(leave, target)?;
                let value = leave.expr.as_ref().map(|value| self.boxed(value)).transpose()?;
                ExprKind::Break { target, value }
            }
            syn::Expr::Continue(next) => ExprKind::Continue(self.target(x, &next.label, false)?),
            syn::Expr::Return(leave) => {
                self.returns = true;
                ExprKind::Return(match &leave.expr {
                    Some(value) => {
                        let mut value = self.boxed(value)?;
                        self.adapt(&mut value);
                        Some(value)
                    }
                    None => None,
                })
            }
            syn::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elems)?),
            syn::Expr::Field(field) => self.field(field)?,
            syn::Expr::Struct(literal) => self.structure(literal)?,
            syn::Expr::Array(array) => {
                let mut all = self.exprs(&array.elems)?;
                self.adapt_all(&mut all);
                ExprKind::Array(all)
            }
            syn::Expr::Repeat(repeat) => ExprKind::Repeat(self.boxed(&repeat.expr)?, (*repeat.len).clone()),
            syn::Expr::Range(range) => {
                let (Some(begin), Some(end)) = (&range.start, &range.end) else {
                    return error(range, "a range in a kernel has a begin and an end: `0..n`");
                };
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                if inclusive && !std::mem::replace(&mut self.inclusive_allowed, false) {
                    let end = match without_parentheses(end) {
                        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(end), .. }) if end.suffix().is_empty() => {
                            (end.base10_parse::<u64>()?.saturating_add(1)).to_string()
                        }
                        end => format!("{} + 1", end.to_token_stream()),
                    };
                    let begin = begin.to_token_stream();
                    let message =
                        format!("an inclusive range stands alone, `for i in 0..=n`; here write `{begin}..{end}`");
                    return error(range, &message);
                }
                self.inclusive_allowed = false;
                ExprKind::Range { begin: self.boxed(begin)?, end: self.boxed(end)?, inclusive }
            }
            syn::Expr::Reference(reference) => return error(reference, places::REFERENCES),
            syn::Expr::Macro(call) => return self.macro_call(&call.mac),
            other => return refuse(other),
        };
        let mut parsed = Expr { kind, span };
        if matches!(x, syn::Expr::If(_) | syn::Expr::Match(_)) {
            self.adapt_choice(&mut parsed);
        }
        Ok(parsed)
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<ExprKind> {
        if path.qself.is_some() {
            return Ok(ExprKind::Constant(path.clone()));
        }
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.find(name)
        {
            let is_view = self.views.contains_key(&local.number);
            let name = if name == "self" { local.name.clone() } else { name.clone() };
            return Ok(ExprKind::Local(Local { name, is_view, ..local }));
        }
        if let Some(message) = path.path.get_ident().and_then(|name| words::variable(&name.to_string())) {
            return error(path, &message);
        }
        let mut last = path.path.segments.iter().rev().map(|segment| &segment.ident);
        if let (Some(scope), Some(owner)) = (last.next(), last.next())
            && owner == "Scope"
            && (scope == "Warp" || scope == "Subgroup")
        {
            return error(
                path,
                "there are no fences and atomics of a warp's scope: PTX has none narrower than the block's; write `Scope::Block`, \
                 or `acc.warp().sync()`, which waits for the lanes of the warp and orders their memory",
            );
        }
        self.check_captured(&path.path, true)?;
        Ok(ExprKind::Constant(path.clone()))
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Result<ExprKind> {
        let op = plain(&binary.op);
        self.check_arrays(op.as_ref().unwrap_or(&binary.op), &binary.left, &binary.right)?;
        if let Some(op) = op {
            let operator = self.operator(op, &binary.left, &binary.right);
            let mut value = self.boxed(&binary.right)?;
            self.adapt(&mut value);
            let place = Box::new(self.place(&binary.left)?);
            return Ok(match self.rules.contract {
                true => contracted_assignment(operator, place, value),
                false => ExprKind::AssignWith(Change::Op(operator), place, value),
            });
        }
        let operator = self.operator(binary.op, &binary.left, &binary.right);
        let (mut left, mut right) = (self.boxed(&binary.left)?, self.boxed(&binary.right)?);
        self.adapt_operands(&binary.op, &mut left, &mut right);
        Ok(match self.rules.contract {
            true => contracted(operator, left, right),
            false => ExprKind::Binary(operator, left, right),
        })
    }
}

fn is_length(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("usize"))
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
        syn::Expr::Closure(_) => error(
            x,
            "a closure in a kernel stands where it is passed to a device function, `apply(|x| x * 2.0, y)`; else write a \
                 function and mark it `#[device_fn]`",
        ),
        syn::Expr::Unsafe(unsafe_block) => {
            error(unsafe_block.unsafe_token, "there is nothing unsafe in kernels: every access is checked")
        }
        syn::Expr::Try(_) => error(x, "there is no `?` in kernels; write `assert!(…)`, which the launch reports"),
        syn::Expr::Async(_) | syn::Expr::Await(_) => error(x, "a kernel is not asynchronous; its launch is"),
        syn::Expr::Let(_) => error(
            x,
            "`let` stands in the condition of an `if` or a `while`, between `&&`; else compare, `x == 3`, or write `matches!(x, 3)`",
        ),
        _ => error(
            x,
            "this is outside the subset of Rust that kernels are written in (see the documentation of `kernel`)",
        ),
    }
}
