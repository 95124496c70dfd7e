//! Emits the host's function: the user's body, with its memory accesses and arithmetic as calls, compiled by rustc.
//!
//! A loop over consecutive indices that reads views at its very index is written twice: with each such view taken as a
//! slice of just that range, so that the loop is the plain one that compilers vectorize; and with every access checked,
//! for when the range is not within all views.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::BinOp;

use crate::ast::{Block, Class, Expr, ExprKind, Function, Local, Pattern, Place, Statement, View};

pub struct Host {
    /// The one-dimensional `Read` parameters, by number.
    lines: Vec<usize>,
    /// The views that are slices in the loop that is being written, and its index.
    windows: Option<Windows>,
    is_kernel: bool,
}

struct Windows {
    index: usize,
    slices: BTreeMap<usize, Ident>,
}

fn support(span: Span) -> TokenStream {
    quote_spanned!(span=> ::wattle::__private::support)
}

/// A name that the user's code cannot mean; what rustc says about it belongs to `span`.
fn private_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(span))
}

fn private(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// `{ … }` in the place of the user's own block.
fn braces(span: Span, content: TokenStream) -> TokenStream {
    let mut group = Group::new(Delimiter::Brace, content);
    group.set_span(span);
    TokenTree::Group(group).into()
}

impl Host {
    pub fn new(function: &Function, is_kernel: bool) -> Self {
        let is_line = |class: &Class| *class == Class::View(View::ReadLine);
        let lines = function.parameters.iter().filter(|parameter| is_line(&parameter.class));
        Host { lines: lines.map(|parameter| parameter.local.number).collect(), windows: None, is_kernel }
    }

    pub fn block(&mut self, block: &Block) -> TokenStream {
        let statements: Vec<_> = block.statements.iter().map(|statement| self.statement(statement)).collect();
        let value = block.value.as_ref().map(|value| self.expr(value));
        braces(block.span, quote!(#(#statements)* #value))
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Let { pattern, ty, value, span } => {
                let mut tokens = self.expr(value);
                if let (Pattern::Local(local), ExprKind::Method { name, .. }) = (pattern, &value.kind)
                    && name.to_string().starts_with("shared")
                {
                    let name = local.name.to_string();
                    tokens = quote!(#tokens.__named(#name));
                }
                let pattern = self.pattern(pattern);
                let ty = ty.as_ref().map(|ty| quote!(: #ty));
                quote_spanned!(*span=> let #pattern #ty = #tokens;)
            }
            Statement::Do(x) => {
                let (tokens, span) = (self.expr(x), x.span);
                quote_spanned!(span=> #tokens;)
            }
        }
    }

    fn pattern(&self, pattern: &Pattern) -> TokenStream {
        match pattern {
            Pattern::Local(Local { name, mutable: true, mut_span, .. }) => quote_spanned!(*mut_span=> mut #name),
            Pattern::Local(Local { name, .. }) => quote!(#name),
            Pattern::Wild(span) => quote_spanned!(*span=> _),
            Pattern::Tuple(all) => {
                let all = all.iter().map(|pattern| self.pattern(pattern));
                quote!((#(#all,)*))
            }
            Pattern::Array(all) => {
                let all = all.iter().map(|pattern| self.pattern(pattern));
                quote!([#(#all),*])
            }
        }
    }

    fn exprs(&mut self, all: &[Expr]) -> Vec<TokenStream> {
        all.iter().map(|x| self.expr(x)).collect()
    }

    /// The end of a thread that must stop.
    fn leave(&self) -> TokenStream {
        if self.is_kernel {
            quote!(return;)
        } else {
            let support = support(Span::call_site());
            quote!(return (#support::zero(), ());)
        }
    }

    fn binary(&self, op: &BinOp, span: Span, x: TokenStream, y: TokenStream) -> TokenStream {
        let support = support(span);
        let thread = private_at("thread", span);
        match op {
            BinOp::Add(_) => quote_spanned!(span=> #support::add(#x, #y)),
            BinOp::Sub(_) => quote_spanned!(span=> #support::sub(#x, #y)),
            BinOp::Mul(_) => quote_spanned!(span=> #support::mul(#x, #y)),
            BinOp::Div(_) => quote_spanned!(span=> #support::div(#x, #y, #thread)),
            BinOp::Rem(_) => quote_spanned!(span=> #support::rem(#x, #y, #thread)),
            BinOp::Shl(_) => quote_spanned!(span=> #support::shl(#x, #y)),
            BinOp::Shr(_) => quote_spanned!(span=> #support::shr(#x, #y)),
            BinOp::BitAnd(_) => quote_spanned!(span=> ::wattle::__private::bit_and(#x, #y)),
            BinOp::BitOr(_) => quote_spanned!(span=> ::wattle::__private::bit_or(#x, #y)),
            BinOp::BitXor(_) => quote_spanned!(span=> ::wattle::__private::bit_xor(#x, #y)),
            op => quote_spanned!(span=> (#x #op #y)),
        }
    }

    fn window(&self, base: &Expr, index: &Expr) -> Option<&Ident> {
        let (ExprKind::Local(view), ExprKind::Local(index)) = (&base.kind, &index.kind) else { return None };
        let windows = self.windows.as_ref()?;
        if windows.index == index.number { windows.slices.get(&view.number) } else { None }
    }

    pub fn expr(&mut self, x: &Expr) -> TokenStream {
        let span = x.span;
        let support = support(span);
        let thread = private_at("thread", span);
        match &x.kind {
            ExprKind::Literal(literal) => quote!(#literal),
            ExprKind::NegativeLiteral(literal) => quote_spanned!(span=> (-#literal)),
            ExprKind::Local(local) => {
                let name = &local.name;
                quote!(#name)
            }
            ExprKind::Constant(path) => quote_spanned!(span=> ::wattle::__private::constant(#path)),
            ExprKind::Negate(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> #support::neg(#x))
            }
            ExprKind::Not(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> ::wattle::__private::not(#x))
            }
            ExprKind::Deref(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> (*#x))
            }
            ExprKind::Exclusive(x) => {
                let x = self.expr(x);
                quote_spanned!(span=> &mut #x)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.binary(op, span, left, right)
            }
            ExprKind::Assign(place, value) => {
                let value_span = value.span;
                let value = self.expr(value);
                match &**place {
                    Place::Local(local) => {
                        let name = &local.name;
                        quote_spanned!(span=> #name = #value)
                    }
                    Place::Index(base, index) => {
                        let index_span = index.span;
                        let (base, index) = (self.expr(base), self.expr(index));
                        let (held, at) = (private_at("value", value_span), private_at("index", index_span));
                        quote_spanned!(span=> {
                            let #held = #value;
                            let #at = #index;
                            #base.__set(#at, #held, #thread)
                        })
                    }
                    Place::Deref(item) => {
                        let item = self.expr(item);
                        quote_spanned!(span=> *#item = #value)
                    }
                }
            }
            ExprKind::AssignWith(op, place, value) => {
                let held = private_at("value", value.span);
                let value = self.expr(value);
                match &**place {
                    Place::Local(local) => {
                        let name = &local.name;
                        let result = self.binary(op, span, quote!(#name), quote!(#held));
                        quote_spanned!(span=> { let #held = #value; #name = #result })
                    }
                    Place::Index(base, index) => {
                        let index_span = index.span;
                        let (base, index) = (self.expr(base), self.expr(index));
                        let (at, old) = (private_at("index", index_span), private_at("old", span));
                        let result = self.binary(op, span, quote!(#old), quote!(#held));
                        quote_spanned!(span=> {
                            let #held = #value;
                            let #at = #index;
                            let #old = #base.__get(#at, #thread);
                            #base.__set(#at, #result, #thread)
                        })
                    }
                    Place::Deref(item) => {
                        let item = self.expr(item);
                        let result = self.binary(op, span, quote!(*#item), quote!(#held));
                        quote_spanned!(span=> { let #held = #value; *#item = #result })
                    }
                }
            }
            ExprKind::Index(base, index) => {
                if let Some(slice) = self.window(base, index) {
                    let number = private("number");
                    return quote_spanned!(span=> #slice[#number]);
                }
                let (base, index) = (self.expr(base), self.expr(index));
                quote_spanned!(span=> #base.__get(#index, #thread))
            }
            ExprKind::Method { receiver, name, generics, arguments } => {
                let (receiver, arguments) = (self.expr(receiver), self.exprs(arguments));
                quote_spanned!(span=> #receiver.#name #generics (#(#arguments),*))
            }
            ExprKind::Math { name, operands } => {
                let operands = self.exprs(operands);
                quote_spanned!(name.span()=> #support::#name(#(#operands),*))
            }
            ExprKind::Call { path, arguments } => {
                let arguments = self.exprs(arguments);
                let (path, generics) = crate::signature::callee(path);
                quote_spanned!(span=> ::wattle::__private::on_host(#thread, #path).__bodies().__host #generics (#(#arguments),*).0)
            }
            ExprKind::FromBits { ty, bits } => {
                let bits = self.expr(bits);
                quote_spanned!(span=> #support::from_bits::<#ty>(#bits))
            }
            ExprKind::Cast(x, ty) => match &x.kind {
                ExprKind::Constant(path) => quote_spanned!(span=> (#path as #ty)),
                _ => {
                    let x = self.expr(x);
                    quote_spanned!(span=> #support::cast::<_, #ty>(#x))
                }
            },
            ExprKind::If { condition, then, otherwise } => {
                let (condition, then) = (self.expr(condition), self.block(then));
                let otherwise = otherwise.as_ref().map(|otherwise| {
                    let otherwise = self.expr(otherwise);
                    quote!(else { #otherwise })
                });
                quote_spanned!(span=> if #condition #then #otherwise)
            }
            ExprKind::While { label, condition, body } => {
                let (label, condition, body) = (label_of(label), self.expr(condition), self.block(body));
                let (stop, leave) = (quote_spanned!(span=> #thread.must_stop()), self.leave());
                quote_spanned!(span=> #label while #condition { if #stop { #leave } #body })
            }
            ExprKind::Loop { label, body } => {
                let (label, body) = (label_of(label), self.block(body));
                let (stop, leave) = (quote_spanned!(span=> #thread.must_stop()), self.leave());
                quote_spanned!(span=> #label loop { if #stop { #leave } #body })
            }
            ExprKind::For { label, pattern, source, body } => self.repeat(label, pattern, source, body, span),
            ExprKind::Block(block) => self.block(block),
            ExprKind::Break(label) => quote_spanned!(span=> break #label),
            ExprKind::Continue(label) => quote_spanned!(span=> continue #label),
            ExprKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expr(value));
                match (self.is_kernel, value) {
                    (true, value) => quote_spanned!(span=> return #value),
                    (false, Some(value)) => quote_spanned!(span=> return (#value, ())),
                    (false, None) => quote_spanned!(span=> return ((), ())),
                }
            }
            ExprKind::Tuple(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> (#(#all,)*))
            }
            ExprKind::Field(base, index) => {
                let base = self.expr(base);
                quote_spanned!(span=> #base.#index)
            }
            ExprKind::Array(all) => {
                let all = self.exprs(all);
                quote_spanned!(span=> [#(#all),*])
            }
            ExprKind::Repeat(value, count) => {
                let value = self.expr(value);
                quote_spanned!(span=> #support::repeat::<_, { #count }>(#value))
            }
            ExprKind::Range { begin, end, .. } => {
                let (begin, end) = (self.expr(begin), self.expr(end));
                quote_spanned!(span=> ::wattle::__private::range(#begin, #end))
            }
            ExprKind::Assert { condition, message } => {
                let condition = self.expr(condition);
                quote_spanned!(span=> #thread.assert(#condition, #message))
            }
        }
    }

    fn repeat(
        &mut self,
        label: &Option<syn::Lifetime>,
        pattern: &Pattern,
        source: &Expr,
        body: &Block,
        span: Span,
    ) -> TokenStream {
        let label = label_of(label);
        if let ExprKind::Range { begin, end, inclusive } = &source.kind {
            let (begin, end) = (self.expr(begin), self.expr(end));
            let dots = if *inclusive { quote!(..=) } else { quote!(..) };
            let (pattern, body) = (self.pattern(pattern), self.block(body));
            return quote_spanned!(span=> #label for #pattern in (#begin)#dots(#end) #body);
        }
        let windows = self.windows_of(pattern, source, body);
        let source_tokens = self.expr(source);
        let (pattern_tokens, checked) = (self.pattern(pattern), self.block(body));
        let Some((is_items, index_name, windows)) = windows else {
            return quote_spanned!(span=> #label for #pattern_tokens in #source_tokens #checked);
        };
        let views: Vec<_> = windows.slices.keys().map(|number| private(&format!("view{number}"))).collect();
        let names: Vec<_> = self.names(body, &windows);
        let slices: Vec<_> = windows.slices.values().cloned().collect();
        let outer = self.windows.replace(windows);
        let plain = self.block(body);
        self.windows = outer;
        let (map, begin, end) = (private("map"), private("begin"), private("end"));
        let (number, count, elements) = (private("number"), private("count"), private("elements"));
        let consecutive = if is_items {
            quote! {
                let #elements = #map.__slice();
                let #count = #elements.len();
                #(let #slices = &#slices[..#count];)*
                #label for #number in 0..#count {
                    let #pattern_tokens = (#begin.wrapping_add(#number as u32), &mut #elements[#number]);
                    let _ = #index_name;
                    #plain
                }
            }
        } else {
            quote! {
                let #count = (#end - #begin) as usize;
                #(let #slices = &#slices[..#count];)*
                #label for #number in 0..#count {
                    let #pattern_tokens = #begin.wrapping_add(#number as u32);
                    let _ = #index_name;
                    #plain
                }
            }
        };
        quote_spanned! {span=> {
            #(let #views = #names;)*
            let mut #map = #source_tokens;
            if let Some((#begin, #end, #(#slices,)*)) = #map.__bounds().and_then(|(#begin, #end)| {
                Some((#begin, #end, #(#views.__window(#begin, #end)?,)*))
            }) {
                #consecutive
            } else {
                #label for #pattern_tokens in #map #checked
            }
        }}
    }

    fn names(&self, body: &Block, windows: &Windows) -> Vec<Ident> {
        let mut names = BTreeMap::new();
        body.walk(&mut |x| {
            if let ExprKind::Local(local) = &x.kind
                && windows.slices.contains_key(&local.number)
            {
                names.insert(local.number, Ident::new(&local.name.to_string(), local.name.span()));
            }
        });
        names.into_values().collect()
    }

    /// The views that a loop reads at its very index, and whether it is a loop over items; none where the loop is not
    /// one over an index map of consecutive indices, or is not an innermost one.
    fn windows_of(&self, pattern: &Pattern, source: &Expr, body: &Block) -> Option<(bool, Ident, Windows)> {
        let ExprKind::Method { name, .. } = &source.kind else { return None };
        let is_items = name == "items";
        let index = match (pattern, is_items) {
            (Pattern::Local(local), false) if name == "indices" && !local.mutable => local,
            (Pattern::Tuple(both), true) => match &both[..] {
                [Pattern::Local(local), _] if !local.mutable => local,
                _ => return None,
            },
            _ => return None,
        };
        if body.any(&|x| matches!(x.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. })) {
            return None;
        }
        let mut slices = BTreeMap::new();
        body.walk(&mut |x| {
            if let ExprKind::Index(base, at) = &x.kind
                && let (ExprKind::Local(view), ExprKind::Local(at)) = (&base.kind, &at.kind)
                && at.number == index.number
                && self.lines.contains(&view.number)
            {
                slices.insert(view.number, format_ident!("slice{}", view.number, span = Span::mixed_site()));
            }
        });
        (!slices.is_empty()).then(|| (is_items, index.name.clone(), Windows { index: index.number, slices }))
    }
}

fn label_of(label: &Option<syn::Lifetime>) -> Option<TokenStream> {
    label.as_ref().map(|label| quote!(#label:))
}
