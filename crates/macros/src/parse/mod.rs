//! From Rust's syntax to the subset of kernels. Everything outside it is refused here, at its own span, in words that
//! name the way out.

mod absent;
mod assertions;
mod bindings;
mod calls;
mod choice;
mod chosen_views;
mod closures;
mod exprs;
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
use syn::{Error, Result};

use crate::ast::{Block, BreakTarget, Expr, Statement, View};
use crate::rules::Rules;
pub use closures::closure;
use in_place::Way;
use jumps::Around;
use literals::numbers;
pub use markers::check_parameter as check_marker_parameter;
pub use names::{SHARED, instead};
use receivers::OwnGenerics;
use scope::Scope;
pub use types::{check_numbers, check_type, class};

/// An error that underlines all of `at`.
pub fn error<T>(at: impl ToTokens, message: &str) -> Result<T> {
    Err(Error::new_spanned(at, message))
}

/// An expression, whatever parentheses are around it.
fn without_parentheses(x: &syn::Expr) -> &syn::Expr {
    match x {
        syn::Expr::Paren(inner) => without_parentheses(&inner.expr),
        syn::Expr::Group(inner) => without_parentheses(&inner.expr),
        x => x,
    }
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
    /// The variables that are a warp, by number.
    warps: HashSet<usize>,
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
    /// The number of arguments of the variables that are functions, by the variable's number, where it is written.
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
            warps: HashSet::new(),
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
}

fn is_length(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("usize"))
}
