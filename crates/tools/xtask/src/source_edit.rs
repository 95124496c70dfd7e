//! Changes that advice proposes, applied to the text of a source file as they are printed: by line and words.

use wattle_ir::Site;

/// A changed source, or the reason why the words cannot be followed.
#[derive(Debug, PartialEq, Eq)]
pub enum Edited {
    Done(String),
    NotPossible(String),
}

/// Applies changes, each at its place, to a source.
pub fn apply<'c>(source: &str, changes: impl Iterator<Item = (Site, &'c str)>) -> Edited {
    let mut changes: Vec<(Site, &str)> = changes.collect();
    // From the end on, so that what is added moves no place that is still to come.
    changes.sort_by_key(|(site, _)| std::cmp::Reverse((site.line, site.column)));
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    for (site, text) in changes {
        if let Err(why) = change(&mut lines, site, text) {
            return Edited::NotPossible(format!("line {}: {text}: {why}", site.line));
        }
    }
    Edited::Done(lines.join("\n") + "\n")
}

fn change(lines: &mut Vec<String>, site: Site, text: &str) -> Result<(), String> {
    let at = site.line as usize - 1;
    let line = lines.get(at).ok_or("there is no such line")?.clone();
    if let Some(fence) = text.strip_suffix(" before this line") {
        return insert(lines, at, fence, true);
    }
    if let Some(fence) = text.strip_suffix(" after this line") {
        return insert(lines, at, fence, false);
    }
    if let Some((old, new)) = fences(text) {
        lines[at] = replaced(&line, &old, &new)?;
        return Ok(());
    }
    if let Some(rest) = text.strip_prefix("make `") {
        let (name, rest) = rest.split_once('`').ok_or("no name")?;
        let numbers = rest.rsplit_once("(lines ").ok_or("no lines")?.1.trim_end_matches(')');
        let numbers: Vec<usize> = numbers.split(", ").filter_map(|number| number.parse().ok()).collect();
        return make_atomic(lines, at, name, &numbers);
    }
    // An access: the call at the place, or the first behind it that is meant.
    let (calls, arguments): (&[&str], &str) = if text.starts_with("load_with") {
        (&["load"], text)
    } else if text.starts_with("store_with") {
        (&["store"], text)
    } else if text.ends_with("for the read-modify-write") {
        (&["compare_exchange", "exchange", "fetch_"], text)
    } else if let Some(scope) = text.strip_prefix("widen the ") {
        let scope = scope.rsplit_once("Scope::").ok_or("no scope")?.1;
        lines[at] = replaced(&line, "Scope::Block", &format!("Scope::{scope}"))?;
        return Ok(());
    } else {
        return Err("these words are not known".into());
    };
    let word = |head: &str| {
        let rest = &arguments[arguments.find(head)?..];
        Some(rest[..rest.find([',', ')', ' ']).unwrap_or(rest.len())].to_owned())
    };
    let (scope, order) = (word("Scope::").ok_or("no scope")?, word("Order::").ok_or("no order")?);
    lines[at] = with_order(&line, site.column as usize, calls, &scope, &order)?;
    Ok(())
}

/// The fence that is replaced and what takes its place, in the words of advice.
fn fences(text: &str) -> Option<(String, String)> {
    let call = |text: &str| Some(format!("mem_fence({})", text.split_once("mem_fence(")?.1.split_once(')')?.0));
    if let Some(rest) = text.strip_prefix("make mem_fence(") {
        let (old, rest) = rest.split_once(')')?;
        return Some((format!("mem_fence({old})"), call(rest)?));
    }
    if text.starts_with("widen mem_fence(") {
        let (old, scope) = (call(text)?, text.rsplit_once("Scope::")?.1);
        let order = old.split_once("Order::")?.1.to_owned();
        return Some((old, format!("mem_fence(Scope::{scope}, Order::{order}")));
    }
    text.starts_with("sync_block() instead of").then(|| Some((call(text)?, "sync_block()".to_owned())))?
}

fn replaced(line: &str, old: &str, new: &str) -> Result<String, String> {
    if line.contains(old) { Ok(line.replacen(old, new, 1)) } else { Err(format!("`{old}` is not there: {line}")) }
}

/// Adds a call of the accelerator's before or after a statement.
fn insert(lines: &mut Vec<String>, at: usize, call: &str, before: bool) -> Result<(), String> {
    let head = lines[..at].iter().rposition(|line| line.contains("fn ")).unwrap_or(0);
    if !lines[head..at].iter().any(|line| line.contains("acc: &Acc")) {
        return Err("the function has no `acc`".into());
    }
    let goes_on = |line: &str| ["&&", "||", ".", "{}"].iter().any(|begin| line.trim_start().starts_with(begin));
    let mut place = at;
    if before {
        while place > 0 && goes_on(&lines[place]) {
            place -= 1;
        }
        if lines[place].trim_start().starts_with("} else") {
            return Err("it is between two branches".into());
        }
    } else {
        let ends = |line: &str| line.ends_with(';') || line.ends_with('{') || line.ends_with("{}");
        while place < lines.len() && !ends(lines[place].trim_end()) {
            place += 1;
        }
        place += 1;
    }
    let indent: String = lines[at].chars().take_while(|c| *c == ' ').collect();
    lines.insert(place, format!("{indent}acc.{call};"));
    Ok(())
}

/// The call at a column, or the only one of these on the line, with an order and a scope.
fn with_order(line: &str, column: usize, calls: &[&str], scope: &str, order: &str) -> Result<String, String> {
    let bytes = line.char_indices().map(|(at, _)| at).nth(column - 1).unwrap_or(0);
    let begin =
        |from: usize| calls.iter().filter_map(|call| Some(from + line[from..].find(&format!(".{call}"))?)).min();
    let dot = begin(bytes.saturating_sub(1)).or_else(|| begin(0)).ok_or("no such call")?;
    let open = dot + line[dot..].find('(').ok_or("no call")?;
    let mut depth = 0;
    let close = line[open..].char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(open + at)
    });
    let close = close.ok_or("the call goes on in another line")?;
    let (name, arguments) = (&line[dot..open], &line[open + 1..close]);
    let (name, arguments) = match name.strip_suffix("_with") {
        Some(_) => (name.to_owned(), arguments.split(", Scope::").next().unwrap_or_default()),
        None => (format!("{name}_with"), arguments),
    };
    Ok(format!("{}{name}({arguments}, {scope}, {order}{}", &line[..dot], &line[close..]))
}

/// Makes a parameter of the kernel atomic, and its accesses relaxed ones.
fn make_atomic(lines: &mut [String], at: usize, name: &str, numbers: &[usize]) -> Result<(), String> {
    let head = lines[..at].iter().rposition(|line| line.contains("fn ")).unwrap_or(0);
    let parameter = format!("{name}: Shared<");
    let declared =
        lines[head..at].iter().position(|line| line.contains(&parameter)).ok_or("it is no parameter here")?;
    lines[head + declared] = lines[head + declared].replacen(&parameter, &format!("{name}: Atomic<"), 1);
    for number in numbers {
        let line = lines.get_mut(number - 1).ok_or("there is no such line")?;
        while let Some(begin) = line.find(&format!("{name}[")) {
            let open = begin + name.len();
            let close = open + line[open..].find(']').ok_or("an index goes on in another line")?;
            let (index, rest) = (line[open + 1..close].to_owned(), line[close + 1..].to_owned());
            let before = line[..begin].to_owned();
            let stored = rest.trim_end().strip_suffix(';');
            *line = if let Some(value) = stored.and_then(|rest| rest.strip_prefix(" += ")) {
                format!("{before}{name}.store({index}, {name}.load({index}) + {value});")
            } else if let Some(value) = stored.and_then(|rest| rest.strip_prefix(" = ")) {
                format!("{before}{name}.store({index}, {value});")
            } else {
                format!("{before}{name}.load({index}){rest}")
            };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(source: &str, line: u32, column: u32, text: &str) -> String {
        let site = Site { file: "a.rs", line, column };
        match apply(source, [(site, text)].into_iter()) {
            Edited::Done(changed) => changed.trim_end().to_owned(),
            Edited::NotPossible(why) => panic!("{why}"),
        }
    }

    #[test]
    fn orders_are_written_into_calls() {
        let line = "while x.load(0) == 1 && y.load(f(1)) == 0 {}";
        let acquire = "load_with(…, Scope::Device, Order::Acquire) for `y`";
        let changed = "while x.load(0) == 1 && y.load_with(f(1), Scope::Device, Order::Acquire) == 0 {}";
        assert_eq!(applied(line, 1, 25, acquire), changed);
        let update = "Order::AcqRel at Scope::Device for the read-modify-write";
        let exchanged = "let a = t.exchange_with(0, n, Scope::Device, Order::AcqRel);";
        assert_eq!(applied("let a = t.exchange(0, n);", 1, 9, update), exchanged);
        let released = "let a = t.exchange_with(0, n, Scope::Device, Order::Release);";
        assert_eq!(applied(released, 1, 9, update), exchanged);
    }

    #[test]
    fn fences_are_added_and_changed() {
        let source = "fn k(acc: &Acc) {\n    x.store(0, 1);\n}";
        let with = "fn k(acc: &Acc) {\n    acc.mem_fence(Scope::Device, Order::SeqCst);\n    x.store(0, 1);\n}";
        assert_eq!(applied(source, 2, 5, "mem_fence(Scope::Device, Order::SeqCst) before this line"), with);
        let widened = "acc.mem_fence(Scope::Device, Order::Release);";
        let text = "widen mem_fence(Scope::Block, Order::Release) to Scope::Device";
        assert_eq!(applied("acc.mem_fence(Scope::Block, Order::Release);", 1, 1, text), widened);
        let text = "make mem_fence(Scope::Device, Order::AcqRel) mem_fence(Scope::Device, Order::SeqCst)";
        let strong = "acc.mem_fence(Scope::Device, Order::SeqCst);";
        assert_eq!(applied("acc.mem_fence(Scope::Device, Order::AcqRel);", 1, 1, text), strong);
    }

    #[test]
    fn a_place_is_made_atomic() {
        let source = "fn k(acc: &Acc, x: Shared<u32>) {\n    x[0] = 1;\n    x[1] += 2;\n    if x[i] == 3 {}\n}";
        let atomic = "fn k(acc: &Acc, x: Atomic<u32>) {\n    x.store(0, 1);\n    x.store(1, x.load(1) + 2);\n    if x.load(i) == 3 {}\n}";
        let text = "make `x` Atomic, and its accesses relaxed ones (lines 2, 3, 4)";
        assert_eq!(applied(source, 2, 5, text), atomic);
    }
}
