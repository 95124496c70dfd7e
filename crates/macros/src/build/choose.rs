//! `if`, `match` and `let … else` in the builder.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Build, builder};
use crate::ast::{Arm, Block, Expr, ExprKind, Pattern};

/// What is done on one way through a choice.
pub(super) struct Branch {
    /// An expression where the choice's value is used, unless it diverges; else statements.
    pub tokens: TokenStream,
    diverges: bool,
}

impl Branch {
    /// The code of the branch as the value of an expression.
    pub(super) fn value(self) -> TokenStream {
        let Branch { tokens, diverges } = self;
        let builder = builder();
        if diverges { quote!({ #tokens #builder.unreachable() }) } else { tokens }
    }
}

impl Build {
    fn block_branch(&mut self, block: &Block, used: bool) -> Branch {
        let diverges = block.diverges();
        Branch { tokens: if used && !diverges { self.value(block) } else { self.effect(block) }, diverges }
    }

    /// `if`, whose value may be used.
    pub(super) fn branch(
        &mut self,
        span: Span,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Expr>,
        used: bool,
    ) -> Branch {
        let condition = self.full(condition);
        let then = self.block_branch(then, used);
        let otherwise = match otherwise {
            Some(Expr { kind: ExprKind::Block(block), .. }) => self.block_branch(block, used),
            Some(x) => {
                let diverges = x.diverges();
                Branch { tokens: if used && !diverges { self.full(x) } else { self.effect_of(x) }, diverges }
            }
            None => Branch { tokens: if used { quote!(()) } else { TokenStream::new() }, diverges: false },
        };
        self.fork(span, condition, then, otherwise, used)
    }

    fn fork(&mut self, span: Span, condition: TokenStream, then: Branch, otherwise: Branch, used: bool) -> Branch {
        let builder = builder();
        let diverges = then.diverges && otherwise.diverges;
        let is_value = used && !diverges;
        let joined = self.fresh("joined");
        let join = |value: TokenStream| quote!(let #joined = #builder.join(#value););
        // The branch that is left for good has no value, and rustc could infer no type for it.
        let (then, otherwise) = match (is_value, then.diverges, otherwise.diverges) {
            (true, true, _) => (then.tokens, join(otherwise.tokens)),
            (true, _, true) => (join(then.tokens), otherwise.tokens),
            (true, ..) => {
                let value = otherwise.tokens;
                (join(then.tokens), quote!({ ::wattle::__private::Variable::set(&#joined, #value); }))
            }
            (false, ..) => (then.tokens, otherwise.tokens),
        };
        let value = is_value.then(|| quote!(::wattle::__private::Variable::get(&#joined)));
        let otherwise = if is_value { otherwise } else { quote!({ #otherwise }) };
        let tokens = quote_spanned! {span=> {
            #builder.if_begin(#condition);
            #then
            #builder.if_else();
            #otherwise
            #builder.if_end();
            #value
        }};
        Branch { tokens, diverges }
    }

    /// `left && right` or `left || right`, where the right side acts.
    pub(super) fn short_circuit(
        &mut self,
        span: Span,
        is_and: bool,
        left: TokenStream,
        right: TokenStream,
    ) -> TokenStream {
        let builder = builder();
        let (decided, joined, held) = (!is_and, self.fresh("joined"), self.fresh("condition"));
        let first = if is_and { quote!(#held) } else { quote!(#builder.not(#held)) };
        quote_spanned! {span=> {
            { let #held = #left; #builder.if_begin(#first); }
            let #joined = #builder.join(#right);
            #builder.if_else();
            ::wattle::__private::Variable::set(&#joined, #builder.lit(#decided));
            #builder.if_end();
            ::wattle::__private::Variable::get(&#joined)
        }}
    }

    /// `match`, whose value may be used: a chain of tests.
    pub(super) fn matching(&mut self, span: Span, value: &Expr, arms: &[Arm], used: bool) -> Branch {
        let (builder, matched) = (builder(), self.fresh("matched"));
        let value = self.full(value);
        let of = quote!(#matched);
        let mut chain: Option<Branch> = None;
        for arm in arms.iter().rev() {
            let bindings = self.bind(&arm.pattern, of.clone(), true);
            let Branch { tokens, diverges } = self.block_branch(&arm.body, used);
            let body = Branch { tokens: quote!({ #bindings #tokens }), diverges };
            let condition = self.condition(arm, &of);
            chain = Some(match (chain, condition) {
                (Some(otherwise), Some(condition)) => self.fork(span, condition, body, otherwise, used),
                (_, _) => body,
            });
        }
        let Some(Branch { tokens, diverges }) = chain else {
            return Branch { tokens: TokenStream::new(), diverges: false };
        };
        Branch { tokens: quote!({ let #matched = #builder.bind(#value, "matched"); #tokens }), diverges }
    }

    /// `let pattern = value else { otherwise };`
    pub(super) fn let_else(&mut self, pattern: &Pattern, value: TokenStream, otherwise: &Block) -> TokenStream {
        let (builder, matched) = (builder(), self.fresh("matched"));
        let of = quote!(#matched);
        let test = self.test(pattern, &of);
        let otherwise = self.effect(otherwise);
        let test = test.map(|test| quote!(#builder.if_begin(#test); #builder.if_else(); #otherwise #builder.if_end();));
        let bindings = self.bind(pattern, of, true);
        quote!(let #matched = #builder.bind(#value, "matched"); #test #bindings)
    }

    /// Whether an arm is taken; `None` where it always is.
    fn condition(&mut self, arm: &Arm, of: &TokenStream) -> Option<TokenStream> {
        let test = self.test(&arm.pattern, of);
        let Some(guard) = &arm.guard else { return test };
        let bindings = self.bind(&arm.pattern, of.clone(), false);
        let (pure, span) = (guard.is_pure(), guard.span);
        let guard = self.full(guard);
        let guard = quote!({ #bindings #guard });
        Some(match test {
            None => guard,
            Some(test) if pure => self.call(span, "bit_and", &[test, guard]),
            Some(test) => self.short_circuit(span, true, test, guard),
        })
    }

    /// Whether `of` matches; `None` where everything does.
    fn test(&mut self, pattern: &Pattern, of: &TokenStream) -> Option<TokenStream> {
        let all = |build: &Self, tests: Vec<TokenStream>, op: &str| {
            tests.into_iter().reduce(|x, y| build.call(Span::call_site(), op, &[x, y]))
        };
        let compare = |build: &mut Self, op: &str, with: &Expr| {
            let value = build.expr(with);
            build.call(with.span, op, &[of.clone(), value])
        };
        match pattern {
            Pattern::Local(_) | Pattern::Wild(_) | Pattern::Rest(_) => None,
            Pattern::At(_, pattern) => self.test(pattern, of),
            Pattern::Value(x) => Some(compare(self, "eq", x)),
            Pattern::Range { begin, end, inclusive } => {
                let begin = begin.as_ref().map(|begin| compare(self, "ge", begin));
                let end = end.as_ref().map(|end| compare(self, if *inclusive { "le" } else { "lt" }, end));
                all(self, begin.into_iter().chain(end).collect(), "bit_and")
            }
            Pattern::Or(alternatives) => {
                let tests = alternatives.iter().map(|pattern| self.test(pattern, of)).collect::<Option<Vec<_>>>()?;
                all(self, tests, "bit_or")
            }
            Pattern::Tuple(parts, _) => {
                let tests = parts.iter().enumerate().filter_map(|(number, pattern)| {
                    let number = syn::Index::from(number);
                    self.test(pattern, &quote!(#of.#number))
                });
                let tests = tests.collect();
                all(self, tests, "bit_and")
            }
            Pattern::Struct { fields, .. } => {
                let tests = fields.iter().filter_map(|(field, pattern)| self.test(pattern, &quote!(#of.#field)));
                let tests = tests.collect();
                all(self, tests, "bit_and")
            }
            Pattern::Array(parts, _) => {
                let names = self.parts(parts);
                let tests = parts.iter().zip(&names).filter_map(|(pattern, name)| self.test(pattern, &quote!(#name)));
                let tests = tests.collect();
                let test = all(self, tests, "bit_and")?;
                Some(quote!({
                    let [#(#names),*] = ::wattle::__private::builder::Array::elements(&#of);
                    #test
                }))
            }
        }
    }
}
