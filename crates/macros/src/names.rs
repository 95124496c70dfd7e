//! The owners of the methods that kernels know, and the names that the macros give.
//!
//! A method is never called by its name alone: a user's trait could have one of that name, and be given the view.

use std::collections::BTreeMap;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::BinOp;
use wattle_operations::{atomics, device_properties, warps};

use crate::ast::{Class, Expr, ExprKind, Function, Operands, Operator, Parameter, Pattern, Statement, View};
use crate::signature::rank;

/// The code of a function in which indices are `u64`: what it names of the library is of those.
pub fn widened(code: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = Vec::new();
    for token in code {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), widened(group.stream()));
                inner.set_span(group.span());
                tokens.push(inner.into());
            }
            TokenTree::Ident(name) if name == "__private" => {
                let span = name.span();
                tokens.push(name.into());
                tokens.extend(quote_spanned!(span=> ::wide));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tokens.push(token),
        }
    }
    tokens.into_iter().collect()
}

/// A name that the user's code cannot mean.
pub fn private(name: &str) -> Ident {
    format_ident!("__wattle_{name}", span = Span::mixed_site())
}

/// The text of a message, of these pieces.
pub fn text(pieces: &TokenStream) -> TokenStream {
    quote! {{
        const __WATTLE_PIECES: &[::wattle::__private::message::Piece] = &[#pieces];
        ::wattle::__private::message::Text(::std::borrow::Cow::Borrowed(__WATTLE_PIECES))
    }}
}

macro_rules! updates {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident $host:ident($old:ident, $operand:ident) $law:ident
        {$($meaning:tt)+})+) => {
        &[
            ("load", 1), ("load_with", 3), ("store", 2), ("store_with", 4), ("compare_exchange", 3),
            ("compare_exchange_with", 5), $((stringify!($method), 2), (stringify!($with), 4),)+
        ]
    };
}

macro_rules! warp_methods {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident($($operand:ident),+) -> $out:ident $how:ident
        {$($kind:ident)+})+) => {
        &[
            ("size", 0), ("lane", 0), ("lane_count", 0), ("ballot", 1), ("sync", 0),
            $((stringify!($method), [$(stringify!($operand)),+].len()),)+
        ]
    };
}

macro_rules! device_methods {
    ([$warp_size:ident $sm:ident] $($(#[$doc:meta])* $variant:ident $method:ident $name:ident $answer:ident {$($answers:tt)+})+) => {
        &[$((stringify!($method), 0),)+]
    };
}

/// A method's name, and the number of arguments that it takes besides what it is called on.
type Method = (&'static str, usize);

/// The methods by owner: a type of both surfaces, or [`FUNCTIONS`] for what several types have.
const METHODS: [(&str, &[Method]); 10] = [
    (
        "AccPlaces",
        &[
            ("thread_in_grid", 0),
            ("thread_in_block", 0),
            ("block_in_grid", 0),
            ("threads_in_grid", 0),
            ("threads_in_block", 0),
            ("blocks_in_grid", 0),
            ("frames", 0),
            ("frame_extent", 0),
            ("linear_thread_in_grid", 0),
            ("linear_thread_in_block", 0),
            ("linear_block_in_grid", 0),
            ("linear_threads_in_grid", 0),
            ("linear_threads_in_block", 0),
            ("linear_blocks_in_grid", 0),
            ("warp_in_block", 0),
            ("warps_in_block", 0),
            ("indices", 2),
            ("items", 1),
        ],
    ),
    (
        "Acc",
        &[
            ("sync_block", 0),
            ("mem_fence", 2),
            ("warp", 0),
            ("device", 0),
            ("clock", 0),
            ("shared", 0),
            ("shared_nd", 0),
            ("shared_3d", 0),
            ("shared_4d", 0),
            ("shared_atomic", 0),
            ("shared_at_launch", 0),
            ("shared_atomic_at_launch", 0),
        ],
    ),
    ("Shared", &[("store_lanes", 2)]),
    ("Indices", &[("contiguous", 0), ("strided", 0)]),
    ("Range", &[("rev", 0)]),
    (
        FUNCTIONS,
        &[
            ("extent", 0),
            ("len", 0),
            ("is_empty", 0),
            ("lanes", 1),
            ("step_by", 1),
            ("linearize", 1),
            ("delinearize", 1),
            ("axis", 1),
            ("with_axis", 2),
        ],
    ),
    ("Atomic", atomics!(updates)),
    ("Warp", warps!(warp_methods)),
    ("ThisDevice", device_properties!(device_methods)),
    ("Mask", &[("word", 1), ("count", 0), ("contains", 1), ("count_below", 1), ("lowest", 0)]),
];

/// The method that `#[device_fn]` writes beside a function with a receiver: rustc finds it by the receiver's type.
pub fn by_receiver(function: &Ident) -> Ident {
    format_ident!("__device_fn_{function}", span = function.span())
}

/// The owner of methods that are called as functions.
const FUNCTIONS: &str = "";

/// The type that has the method; `None` where it is a function.
pub fn owner(method: &Ident) -> Option<Ident> {
    let owner = owner_of(&method.to_string()).filter(|owner| *owner != FUNCTIONS)?;
    Some(Ident::new(owner, method.span()))
}

/// Whether the name is that of a method of `Acc`.
pub fn is_of_acc(method: &Ident) -> bool {
    owner_of(&method.to_string()).is_some_and(|owner| owner.starts_with("Acc"))
}

/// Whether kernels know the method.
pub fn is_method(name: &str) -> bool {
    owner_of(name).is_some()
}

/// The traits of `core::ops` and `core::cmp` that give a type operators, by their functions; the first ones are those
/// that structs in kernels may have.
const OPERATORS: [(&str, &str); 25] = [
    ("Add", "add"),
    ("Sub", "sub"),
    ("Mul", "mul"),
    ("Div", "div"),
    ("Rem", "rem"),
    ("Neg", "neg"),
    ("Not", "not"),
    ("BitAnd", "bitand"),
    ("BitOr", "bitor"),
    ("BitXor", "bitxor"),
    ("Shl", "shl"),
    ("Shr", "shr"),
    ("AddAssign", "add_assign"),
    ("SubAssign", "sub_assign"),
    ("MulAssign", "mul_assign"),
    ("DivAssign", "div_assign"),
    ("RemAssign", "rem_assign"),
    ("BitAndAssign", "bitand_assign"),
    ("BitOrAssign", "bitor_assign"),
    ("BitXorAssign", "bitxor_assign"),
    ("Index", "index"),
    ("IndexMut", "index_mut"),
    ("PartialEq", "eq"),
    ("PartialOrd", "partial_cmp"),
    ("Ord", "cmp"),
];

/// The number of rows of [`OPERATORS`], the first ones, that structs may have.
const OF_STRUCTS: usize = 6;

/// The operator that structs may have, as `core::ops` and the library name it; none where it is applied to numbers
/// alone.
pub fn operator_of_structs(operator: &Operator) -> Option<Ident> {
    match operator.operands {
        Operands::Numbers => None,
        Operands::Any => trait_of(&operator.op).map(|name| Ident::new(name, Span::call_site())),
    }
}

/// The trait of an operator that structs may have.
pub fn trait_of(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "Add",
        BinOp::Sub(_) => "Sub",
        BinOp::Mul(_) => "Mul",
        BinOp::Div(_) => "Div",
        BinOp::Rem(_) => "Rem",
        _ => return None,
    })
}

/// Whether structs may have the operator of this trait.
pub fn structs_may_have(of: &str) -> bool {
    OPERATORS[..OF_STRUCTS].iter().any(|(name, _)| *name == of)
}

/// Whether a trait of this name gives a type operators.
pub fn is_trait_of_operators(of: &str) -> bool {
    OPERATORS.iter().any(|(name, _)| *name == of)
}

/// Whether `function` is the one of a trait that gives a type an operator.
pub fn is_operator(of: &str, function: &Ident) -> bool {
    OPERATORS.iter().any(|(name, known)| *name == of && function == known)
}

/// Whether a type of this name, which is no view, may have the library's method: one of the user's may be another name
/// for an array.
pub fn may_have(ty: &str, method: &str) -> bool {
    owner_of(method).is_some_and(|owner| is_type_of_library(ty) || owner == FUNCTIONS)
}

/// Whether the name is that of a type of the library that has methods in kernels and is no view.
pub fn is_type_of_library(ty: &str) -> bool {
    ["Acc", "Warp", "WarpMask", "ThisDevice"].contains(&ty)
}

/// Whether the method is one that values, arrays and ranges have.
pub fn is_of_values(method: &str) -> bool {
    owner_of(method) == Some(FUNCTIONS)
}

/// The methods of `Acc`, views and what they give, as users write them.
pub fn methods_of_views_and_threads() -> impl Iterator<Item = &'static str> {
    METHODS.iter().flat_map(|(_, methods)| methods.iter().map(|(name, _)| *name))
}

/// The methods of a warp.
pub fn methods_of_warps() -> impl Iterator<Item = &'static str> {
    let of_warps = METHODS.iter().filter(|(owner, _)| *owner == "Warp");
    of_warps.flat_map(|(_, methods)| methods.iter().map(|(name, _)| *name))
}

/// The number of arguments that a method takes besides what it is called on.
pub fn arguments(method: &str) -> Option<usize> {
    METHODS.iter().flat_map(|(_, methods)| methods.iter()).find(|(name, _)| *name == method).map(|(_, count)| *count)
}

fn owner_of(name: &str) -> Option<&'static str> {
    METHODS.iter().find(|(_, methods)| methods.iter().any(|(known, _)| *known == name)).map(|(owner, _)| *owner)
}

/// Whether the method is one of indices, extents and ranges, or of their numbers, that can fault.
pub fn is_of_index(method: &str) -> bool {
    ["linearize", "delinearize", "axis", "with_axis", "step_by"].contains(&method)
}

/// Whether the method is an operation on `Atomic` memory.
pub fn is_atomic(name: &Ident) -> bool {
    owner_of(&name.to_string()) == Some("Atomic")
}

/// Whether the method is an operation that the threads of a block or of a warp do together, or a fence.
pub fn is_synchronizing(name: &Ident) -> bool {
    let name = name.to_string();
    name == "sync_block" || name == "mem_fence" || owner_of(&name) == Some("Warp")
}

/// What the method is called on, as its first argument.
pub fn receiver(method: &Ident, receiver: TokenStream, span: Span) -> TokenStream {
    match method.to_string().as_str() {
        "contiguous" | "strided" | "rev" => receiver,
        method if is_of_index(method) => receiver,
        _ => quote_spanned!(span=> &#receiver),
    }
}

/// The generic arguments of a method as they stand behind its path, or, of `lanes`, as its last argument: given behind
/// the path they would have to name the view's type too, and a view that has no lanes would be refused there once more.
pub fn generics(
    method: &Ident,
    generics: Option<&syn::AngleBracketedGenericArguments>,
) -> (Option<TokenStream>, Option<TokenStream>) {
    match method == "lanes" {
        true => (None, Some(quote_spanned!(method.span()=> ::wattle::__private::builder::LaneCount #generics))),
        false => (generics.map(|generics| quote!(#generics)), None),
    }
}

/// A literal as `f32` and as `f64`, each rounded once.
pub fn both_floats(literal: &syn::LitFloat, negative: bool) -> TokenStream {
    let (single, double) = (literal.base10_parse::<f32>(), literal.base10_parse::<f64>());
    // What is no number is the lexer's error, not ours.
    let (mut single, mut double) = (single.unwrap_or_default(), double.unwrap_or_default());
    if negative {
        (single, double) = (-single, -double);
    }
    let (single, double) = (single.to_bits(), double.to_bits());
    quote_spanned! {literal.span()=>
        ::core::primitive::f32::from_bits(#single), ::core::primitive::f64::from_bits(#double)
    }
}

/// The ranks of `Acc` and of atomic views, by the numbers of the variables that they are in, in a function that has
/// const generics: its bound on one rank would otherwise make rustc take that one for the rank of every call.
pub struct Ranks(BTreeMap<usize, TokenStream>);

impl Ranks {
    pub fn of(function: &Function) -> Ranks {
        let mut ranks = Ranks(BTreeMap::new());
        if function.generics.const_params().next().is_none() {
            return ranks;
        }
        for Parameter { class, local, ty, .. } in &function.parameters {
            let rank = match class {
                Class::Acc(Some(rank)) => quote_spanned!(local.name.span()=> ::<{ #rank }>),
                Class::Acc(None) => quote_spanned!(local.name.span()=> ::<1>),
                Class::View(View::Atomic) => of_atomics(rank(ty), local.name.span()),
                Class::View(View::ReadLine | View::Read | View::PerItem | View::Shared)
                | Class::Exclusive
                | Class::Function
                | Class::Value => continue,
            };
            ranks.0.insert(local.number, rank);
        }
        function.body.each_block(&mut |block| {
            for statement in &block.statements {
                if let Statement::Let { pattern: Pattern::Local(local), value, .. } = statement
                    && let Some(rank) = ranks.on(value)
                {
                    ranks.0.insert(local.number, rank);
                }
            }
        });
        ranks
    }

    /// The generic arguments of the owner of a method that is called on this.
    pub fn on(&self, receiver: &Expr) -> Option<TokenStream> {
        match &receiver.kind {
            ExprKind::Local(local) => self.0.get(&local.number).cloned(),
            ExprKind::Method { name, .. } if name == "shared_atomic" || name == "shared_atomic_at_launch" => {
                Some(of_atomics(None, name.span()))
            }
            _ => None,
        }
    }
}

/// The generic arguments of `Atomic` with this rank, or with the one that it has where none is written.
fn of_atomics(rank: Option<&syn::GenericArgument>, span: Span) -> TokenStream {
    match rank {
        Some(rank) => quote_spanned!(span=> ::<_, #rank>),
        None => quote_spanned!(span=> ::<_, 1>),
    }
}
