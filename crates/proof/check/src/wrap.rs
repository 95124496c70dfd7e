//! Text in lines of a width.

use textwrap::{Options, WordSeparator, WordSplitter};

/// The text in lines of at most `width` columns, broken between words; a longer word has a line of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    lines(text, options(width))
}

/// The text in lines of at most `width` columns, of which the first `indent` are blank; a longer word has a line of its
/// own.
pub(crate) fn indented(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    lines(text, options(width).initial_indent(&indent).subsequent_indent(&indent))
}

/// The text in lines of at most `width` columns, all but the first indented by two; a longer word is broken.
pub(crate) fn hanging(text: &str, width: usize) -> Vec<String> {
    const NARROWEST: usize = 8;
    lines(text, options(width.max(NARROWEST)).subsequent_indent("  ").break_words(true))
}

fn options<'a>(width: usize) -> Options<'a> {
    let options = Options::new(width).break_words(false);
    // `compare-exchange` and a path with a hyphen are one word.
    options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation)
}

fn lines(text: &str, options: Options<'_>) -> Vec<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    textwrap::wrap(&words, options).into_iter().map(|line| line.into_owned()).collect()
}
