//! The subset of Rust that kernels are written in, as a tree: what the parser makes and the two emitters read.

mod walk;

use crate::numbers::OfNumbers;
use proc_macro2::{Ident, Span, TokenStream};
use syn::{AngleBracketedGenericArguments, Attribute, BinOp, ExprPath, Generics, Member, Path, Type, Visibility};

/// A kernel or a device function.
pub struct Function {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub name: Ident,
    pub is_kernel: bool,
    pub generics: Generics,
    /// How many of the generics stand for an `impl DeviceFn<…>`; they are the last ones.
    pub anonymous: usize,
    pub parameters: Vec<Parameter>,
    pub result: Option<Type>,
    pub body: Block,
    /// Whether there is a `return` in the body.
    pub returns: bool,
    /// Whether sums over a loop may be added in another order.
    pub reassociate: bool,
    /// Whether the host's function is compiled for the build's own target alone.
    pub baseline: bool,
    /// The errors, where the body was refused; it is empty then.
    pub refused: Option<TokenStream>,
}

pub struct Parameter {
    pub local: Local,
    /// The type; of an `impl DeviceFn<…>` the type parameter that stands for it.
    pub ty: Type,
    /// The type as it is written.
    pub written: Type,
    pub class: Class,
}

/// What the type of a parameter says about it, as it is written.
#[derive(Clone, PartialEq)]
pub enum Class {
    /// `&Acc<D>`, with `D` as written.
    Acc(Option<syn::Expr>),
    /// A view: `Read`, `Shared`, `Atomic` or `PerItem`.
    View(View),
    /// A variable of the caller's: `&mut T`.
    Exclusive,
    /// A function: `F: DeviceFn<…>`, or `impl DeviceFn<…>`.
    Function,
    /// A value.
    Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// `Read<T>`, of one dimension.
    ReadLine,
    /// `Read<T, D>`.
    Read,
    PerItem,
    Shared,
    Atomic,
}

/// A variable. Two of one name have different numbers.
#[derive(Clone)]
pub struct Local {
    pub name: Ident,
    pub mutable: bool,
    /// The span of `mut`, or else of the name.
    pub mut_span: Span,
    pub number: usize,
    /// Whether it is known to hold a view, which is written through whether or not the variable is `mut`.
    pub is_view: bool,
    /// Whether it is a `&mut` parameter: what is read and assigned to is the caller's variable.
    pub is_reference: bool,
    /// Whether it is a function, which is called and passed on.
    pub is_function: bool,
    /// Whether it is an item of a `PerItem` view, which is read and written in its place.
    pub is_item: bool,
    /// Whether it begins with a literal without a type, which rustc infers and no generic type can be.
    pub is_literal: bool,
    /// Whether it is declared without a value, `let x;`, which its first assignment gives it.
    pub is_later: bool,
}

impl Local {
    /// Whether it is `self`, which has another name in what is written of it.
    pub fn is_self(&self) -> bool {
        self.name == "__wattle_self"
    }

    /// The variable's name in the source.
    pub fn display(&self) -> String {
        if self.is_self() { "self".to_owned() } else { self.name.to_string() }
    }
}

pub struct Block {
    pub statements: Vec<Statement>,
    /// The value, where there is one.
    pub value: Option<Box<Expr>>,
    pub span: Span,
}

#[allow(clippy::large_enum_variant, reason = "a tree lives for one function")]
pub enum Statement {
    /// `otherwise` is the block of a `let … else`, which never ends; without it the pattern always matches.
    Let {
        pattern: Pattern,
        ty: Option<Type>,
        value: Expr,
        otherwise: Option<Block>,
        span: Span,
    },
    /// `let x;`
    Declare {
        local: Local,
        ty: Option<Type>,
        span: Span,
    },
    Do(Expr),
    /// A call of a method on a variable, an item or a part of one. Whether the method takes `&mut self` its type says:
    /// then `back` has what the receiver is now, and `put`, which assigns that, is done.
    CallOn {
        pattern: Pattern,
        back: Local,
        call: Expr,
        put: Expr,
    },
    /// `const N: u32 = 3;`
    Const(syn::ItemConst),
}

#[allow(clippy::large_enum_variant, reason = "a tree lives for one function")]
pub enum Pattern {
    Local(Local),
    /// `name @ pattern`.
    At(Local, Box<Pattern>),
    Wild(Span),
    /// The parts of a tuple or an array that are left out, `..`; of a tuple that need not match they are the last ones.
    Rest(Span),
    Tuple(Vec<Pattern>, Span),
    Array(Vec<Pattern>, Span),
    /// `Body { mass, .. }`.
    Struct {
        path: Path,
        fields: Vec<(Member, Pattern)>,
        rest: bool,
    },
    /// A literal or a constant.
    Value(Box<Expr>),
    /// `1..=9`, `1..`, `..9`: the ends are literals or constants, and at least one is there.
    Range {
        begin: Option<Box<Expr>>,
        end: Option<Box<Expr>>,
        inclusive: bool,
    },
    /// `1 | 2`, without names.
    Or(Vec<Pattern>),
}

/// An arm of a `match`.
pub struct Arm {
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    pub body: Block,
}

/// A loop or a labelled block, as `break` and `continue` name it; each has another number in its function.
pub type BreakTarget = usize;

pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

impl ExprKind {
    /// The constant of that name.
    pub fn constant(name: Ident) -> ExprKind {
        ExprKind::Constant(ExprPath { attrs: Vec::new(), qself: None, path: name.into() })
    }
}

pub enum ExprKind {
    Literal(syn::Lit),
    /// `-1`.
    NegativeLiteral(syn::Lit),
    /// A literal of whichever floating-point type its place decides.
    Float {
        literal: syn::LitFloat,
        negative: bool,
    },
    Local(Local),
    /// A constant: whatever path is not a local variable.
    Constant(ExprPath),
    Negate(Box<Expr>, Operands),
    Not(Box<Expr>),
    Deref(Box<Expr>),
    /// `&mut out`, of a view or a variable.
    Exclusive(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Assign(Box<Place>, Box<Expr>),
    AssignWith(Change, Box<Place>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Method {
        receiver: Box<Expr>,
        name: Ident,
        generics: Option<syn::AngleBracketedGenericArguments>,
        arguments: Vec<Expr>,
    },
    /// A mathematical function, written as a method.
    Math {
        name: Ident,
        operands: Vec<Expr>,
    },
    /// A device function.
    Call {
        callee: Callee,
        arguments: Vec<Expr>,
    },
    /// A device function as an argument, by its name.
    Function(Path),
    /// A closure as an argument.
    Closure(Closure),
    /// A value as an argument of a function of a type, for a parameter that is `&mut`: it comes back beside the result.
    Lent(Box<Expr>),
    /// `f32::from_bits(x)`.
    FromBits {
        ty: Path,
        bits: Box<Expr>,
    },
    Cast(Box<Expr>, Type),
    /// A constant that only rustc may know to convert, as it does an enumeration's `Kind::First as u32`.
    RustCast(ExprPath, Type),
    If {
        condition: Box<Expr>,
        then: Block,
        otherwise: Option<Box<Expr>>,
    },
    /// The last arm needs no test: rustc has seen that the arms are exhaustive.
    Match {
        value: Box<Expr>,
        arms: Vec<Arm>,
    },
    While {
        target: BreakTarget,
        condition: Box<Expr>,
        body: Block,
    },
    Loop {
        target: BreakTarget,
        body: Block,
    },
    For {
        target: BreakTarget,
        pattern: Pattern,
        source: Box<Expr>,
        body: Block,
    },
    Block(Block),
    /// `'label: { … }`.
    Labelled {
        target: BreakTarget,
        body: Block,
    },
    Break {
        target: BreakTarget,
        value: Option<Box<Expr>>,
    },
    Continue(BreakTarget),
    Return(Option<Box<Expr>>),
    Tuple(Vec<Expr>),
    /// A part of a tuple or a struct.
    Field(Box<Expr>, Member),
    /// A field of an element in its place, `bodies[i].mass` or `body.mass`: of a view's element by index, or of an
    /// item.
    Element(Box<Expr>, Vec<Member>),
    /// `Body { mass, ..other }`.
    Struct {
        path: Path,
        fields: Vec<(Member, Expr)>,
        rest: Option<Box<Expr>>,
    },
    Array(Vec<Expr>),
    Repeat(Box<Expr>, syn::Expr),
    Range {
        begin: Box<Expr>,
        end: Box<Expr>,
        inclusive: bool,
    },
    Assert {
        condition: Box<Expr>,
        message: Message,
    },
    /// `println!`.
    Print(Message),
}

/// What an assertion or a `println!` says.
pub struct Message {
    /// The text as a format string without names, for rustc to check.
    pub literal: syn::LitStr,
    /// The pieces of the text, as an array's elements.
    pub pieces: TokenStream,
    /// The values, by the numbers that they have in the text.
    pub arguments: Vec<Expr>,
}

/// An operator with two operands.
#[derive(Clone, Copy)]
pub struct Operator {
    pub op: BinOp,
    pub operands: Operands,
}

impl Operator {
    /// The operator of two numbers, truth values or masks.
    pub fn of_numbers(op: BinOp) -> Operator {
        Operator { op, operands: Operands::Numbers }
    }
}

/// What an operator is applied to.
#[derive(Clone, Copy, PartialEq)]
pub enum Operands {
    /// What shows to be no struct.
    Numbers,
    /// What may be a struct that has the operator: rustc finds it by the types.
    Any,
}

/// What is called.
pub enum Callee {
    /// A device function of a module.
    Function(Path),
    /// A device function of a type or trait.
    Associated(ExprPath),
    /// A device function that is called as a method: its receiver is the first argument.
    Method(Method),
    /// A parameter that is a function.
    Parameter(Local),
}

/// A device function that is called as a method.
pub struct Method {
    pub name: Ident,
    pub generics: Option<AngleBracketedGenericArguments>,
    pub of: Owner,
}

/// The type that a method belongs to.
pub enum Owner {
    /// The type is written in the source.
    Written(Path),
    /// The type is the one that rustc infers for the receiver.
    Inferred,
    /// The type is the one that rustc infers for the receiver; where that is a number, the method is the one of numbers
    /// with this name.
    OrNumbers(&'static OfNumbers),
}

/// A function without a name, which captures nothing.
pub struct Closure {
    pub parameters: Vec<(Pattern, Option<Type>)>,
    pub result: Option<Type>,
    pub body: Block,
    /// Whether there is a `return` in the body.
    pub returns: bool,
}

/// What can be assigned to.
#[allow(clippy::large_enum_variant, reason = "a tree lives for one function")]
pub enum Place {
    /// A variable, or a part of one that is a tuple or a struct: `pair.0`.
    Variable(Local, Vec<Member>),
    Index(Expr, Expr),
    /// A part of an element in its place, see [`ExprKind::Element`], on a way with at least one step.
    Element(Expr, Vec<Step>),
    /// A field of an element of an array of the thread's own: `bodies[i].mass`.
    Part {
        base: Expr,
        index: Expr,
        fields: Vec<Member>,
    },
    Deref(Expr),
}

/// What a compound assignment makes of what its place holds.
pub enum Change {
    /// What the operator makes of it and of the value.
    Op(Operator),
    /// What the function of this name makes of it and of the two factors that are the value, as one operation.
    Fused(Ident),
}

/// A step from an element or an array to a part of it.
#[allow(clippy::large_enum_variant, reason = "a tree lives for one function")]
pub enum Step {
    Field(Member),
    Index(Expr),
}

impl Step {
    pub fn field(&self) -> Option<&Member> {
        match self {
            Step::Field(field) => Some(field),
            Step::Index(_) => None,
        }
    }

    pub fn index(&self) -> Option<&Expr> {
        match self {
            Step::Field(_) => None,
            Step::Index(index) => Some(index),
        }
    }
}
