//! `#[scenario]`: a function with its registration beside it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, LitStr, Meta, Result, Token};

use crate::parse::error;

/// The arguments of the attribute, each as it was written.
#[derive(Default)]
pub struct Arguments {
    name: Option<LitStr>,
    expect: Option<Ident>,
    sizes: Option<(Ident, Expr)>,
    documentation: Option<Expr>,
}

const KNOWN: &str =
    "`name = \"…\"`, `expect = holds` or `expect = refuted`, `sizes = Sizes { … }`, `documentation = …`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        while !input.is_empty() {
            let Ok(key) = input.parse::<Ident>() else {
                return Err(input.error(format!("an argument of `#[scenario]` is one of {KNOWN}")));
            };
            if !input.peek(Token![=]) {
                return error(&key, &format!("`{key}` needs a value: there are {KNOWN}"));
            }
            input.parse::<Token![=]>()?;
            let again = match key.to_string().as_str() {
                "name" => arguments.name.replace(name(input)?).is_some(),
                "expect" => arguments.expect.replace(expectation(input)?).is_some(),
                "sizes" => arguments.sizes.replace((key.clone(), input.parse()?)).is_some(),
                "documentation" => arguments.documentation.replace(input.parse()?).is_some(),
                _ => return error(&key, &format!("`#[scenario]` has no argument `{key}`: there are {KNOWN}")),
            };
            if again {
                return error(&key, &format!("`{key}` is given twice"));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

fn name(input: ParseStream<'_>) -> Result<LitStr> {
    let name: LitStr = input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), "write the name in quotes: `name = \"my-scenario\"`"))?;
    let text = name.value();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        return error(
            &name,
            "a scenario's name has lower-case letters, digits and hyphens: the command takes it as it is",
        );
    }
    Ok(name)
}

fn expectation(input: ParseStream<'_>) -> Result<Ident> {
    let refused =
        |span| syn::Error::new(span, "write `expect = holds`, or `expect = refuted` where the scenario is wrong");
    let word: Ident = input.parse().map_err(|error| refused(error.span()))?;
    if word == "holds" || word == "refuted" { Ok(word) } else { Err(refused(word.span())) }
}

/// The function as it is, and its registration.
pub fn scenario(arguments: &Arguments, item: &ItemFn) -> Result<TokenStream> {
    let signature = &item.sig;
    let function = &signature.ident;
    if let Some(token) = &signature.asyncness {
        return error(token, "a scenario is a plain function; leave out `async`");
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        return error(token, "a scenario is a plain function; leave out `unsafe`");
    }
    if !signature.generics.params.is_empty() {
        let message = "a registered scenario has no generic parameters: write a function beside it for each instance that \
                       is to have a name";
        return error(&signature.generics, message);
    }
    let work = work(arguments, item)?;
    let name = match &arguments.name {
        Some(name) => name.value(),
        None => function.to_string().trim_start_matches("r#").replace('_', "-").to_lowercase(),
    };
    let (summary, page) = documentation(&item.attrs);
    if summary.is_empty() {
        let message = "say in a doc comment what the scenario shows: its first paragraph stands in `wattle list`";
        return error(function, message);
    }
    let page = arguments.documentation.as_ref().map_or_else(|| quote!(#page), |page| quote!(#page));
    let expectation = match &arguments.expect {
        Some(word) if word == "refuted" => quote!(Refuted),
        _ => quote!(Holds),
    };
    let start = function.span().unwrap();
    let (line, column) = (start.line() as u32, start.column() as u32);
    let private = quote!(::wattle::__private);
    Ok(quote! {
        #item

        const _: () = {
            #[#private::linkme::distributed_slice(#private::SCENARIOS)]
            #[linkme(crate = #private::linkme)]
            static REGISTRATION: #private::Registration = #private::Registration {
                scenario: ::wattle::Scenario {
                    name: #name,
                    summary: #summary,
                    documentation: #page,
                    expectation: ::wattle::Expectation::#expectation,
                    work: #work,
                },
                module: ::core::module_path!(),
                site: #private::Site { file: ::core::file!(), line: #line, column: #column },
            };
        };
    })
}

/// The function as the registration holds it: with a size, if it takes one.
fn work(arguments: &Arguments, item: &ItemFn) -> Result<TokenStream> {
    let function = &item.sig.ident;
    // Where a parameter or the result has another type, the error stands there.
    let at = |span: Span| span.resolved_at(Span::mixed_site());
    let returned = match &item.sig.output {
        syn::ReturnType::Default => function.span(),
        syn::ReturnType::Type(_, returned) => returned.span(),
    };
    let call =
        |arguments: TokenStream| quote_spanned!(at(returned)=> ::wattle::__private::ended(#function(#arguments)));
    let parameter = |number: usize, name: &str| {
        let span = item.sig.inputs.get(number).map_or(function.span(), |parameter| match parameter {
            FnArg::Typed(parameter) => parameter.ty.span(),
            FnArg::Receiver(receiver) => receiver.span(),
        });
        Ident::new(name, at(span))
    };
    let (device, size) = (parameter(0, "device"), parameter(1, "size"));
    match (item.sig.inputs.len(), &arguments.sizes) {
        (1, None) => {
            let call = call(quote!(#device));
            Ok(quote!(::wattle::Work::Fixed(|#device| #call)))
        }
        (2, Some((_, sizes))) => {
            let call = call(quote!(#device, #size));
            Ok(quote!(::wattle::Work::Sized(|#device, #size| #call, #sizes)))
        }
        (1, Some((key, _))) => error(key, "the function takes no size: add a second parameter, `size: usize`"),
        (2, None) => {
            let message = "this scenario takes a size, so its registration names three: \
                           `#[scenario(sizes = Sizes { full: 1 << 20, small: 1 << 10, proof: 4 })]`";
            error(&item.sig.inputs[1], message)
        }
        _ => {
            let message = "a scenario is `fn(device: &Device) -> Result<()>`, or with a size \
                           `fn(device: &Device, size: usize) -> Result<()>`; it may also return `Result<Summary>`";
            error(function, message)
        }
    }
}

/// The first paragraph of the doc comment, as one line without its full stop; and what comes after it.
fn documentation(attributes: &[Attribute]) -> (String, String) {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let text: Vec<String> = lines.flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut paragraphs = text.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let first: Vec<&str> = paragraphs.by_ref().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let rest: Vec<&str> = paragraphs.collect();
    let first = first.join(" ");
    (first.strip_suffix('.').unwrap_or(&first).to_owned(), rest.join("\n"))
}
