//! JSON that people read: what fits on a line stands on one.

/// The greatest width of a line.
const WIDTH: usize = 120;

enum Node<'t> {
    Leaf(&'t str),
    Group { open: char, close: char, members: Vec<(Option<&'t str>, Node<'t>)>, width: usize },
}

impl Node<'_> {
    /// The width of all of it on one line.
    fn width(&self) -> usize {
        match self {
            Node::Leaf(text) => text.chars().count(),
            Node::Group { width, .. } => *width,
        }
    }
}

/// Lays out valid JSON without spaces, as serde_json writes it.
pub(crate) fn lay_out(compact: &str) -> String {
    let mut reader = Reader { text: compact, at: 0 };
    let node = reader.value();
    let mut text = String::with_capacity(compact.len() * 2);
    write(&mut text, &node, 0, 0);
    text.push('\n');
    text
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    fn string(&mut self) -> &'t str {
        let start = self.at;
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.text.len());
        &self.text[start..self.at]
    }

    fn value(&mut self) -> Node<'t> {
        let (open, close) = match self.peek() {
            b'{' => ('{', '}'),
            b'[' => ('[', ']'),
            b'"' => return Node::Leaf(self.string()),
            _ => {
                let start = self.at;
                while self.at < self.text.len() && !matches!(self.peek(), b',' | b']' | b'}') {
                    self.at += 1;
                }
                return Node::Leaf(&self.text[start..self.at]);
            }
        };
        self.at += 1;
        let (mut members, mut width) = (Vec::new(), 2);
        while !matches!(self.peek(), b']' | b'}') {
            if self.peek() == b',' {
                self.at += 1;
                width += 2;
            }
            let key = (open == '{').then(|| self.string());
            // Behind a key stands a colon.
            self.at += key.is_some() as usize;
            let value = self.value();
            width += key.map_or(0, |key| key.chars().count() + 2) + value.width();
            members.push((key, value));
        }
        self.at += 1;
        Node::Group { open, close, members, width }
    }
}

fn write(text: &mut String, node: &Node<'_>, indent: usize, before: usize) {
    let Node::Group { open, close, members, width } = node else {
        if let Node::Leaf(leaf) = node {
            text.push_str(leaf);
        }
        return;
    };
    text.push(*open);
    if before + width < WIDTH {
        for (number, (key, value)) in members.iter().enumerate() {
            text.push_str(if number > 0 { ", " } else { "" });
            write_key(text, *key);
            write(text, value, indent, 0);
        }
        text.push(*close);
        return;
    }
    // Numbers fill their lines.
    let fills = *open == '[' && members.iter().all(|(_, value)| matches!(value, Node::Leaf(_)));
    let mut column = WIDTH;
    for (number, (key, value)) in members.iter().enumerate() {
        text.push_str(if number > 0 { "," } else { "" });
        if !fills || column + value.width() + 3 > WIDTH {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent + 1));
            column = indent + 1;
        } else {
            text.push(' ');
        }
        write_key(text, *key);
        let before = indent + 1 + key.map_or(0, |key| key.chars().count() + 2);
        write(text, value, indent + 1, before);
        column += value.width() + 2;
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(*close);
}

fn write_key(text: &mut String, key: Option<&str>) {
    if let Some(key) = key {
        text.push_str(key);
        text.push_str(": ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_laid_out_is_the_same_value() {
        let numbers: Vec<u64> = (0..200).map(|i| i * i * i).collect();
        let value = serde_json::json!({
            "text": "a \"quoted, {text}\" \\", "empty": [], "none": {}, "numbers": numbers,
            "deep": [[1, 2, [3, null, true]], {"a": {"b": numbers}}],
        });
        let text = lay_out(&value.to_string());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.lines().count() < 100, "{text}");
    }
}
