//! The language and its library, as far as they are ours.

use crate::{Made, lua, text};
use model::types::DataType;
use sandbox::{Failure, Sandbox};

#[test]
fn arguments_are_named_and_nulls_are_nil() {
    let add = Made::new("lua", &[("a", DataType::Int), ("b", DataType::Int)], DataType::Int, "return a + b");
    let four = 4i32.to_be_bytes();
    assert_eq!(add.call(&[Some(&four), Some(&four)]), Ok(Some(8i32.to_be_bytes().to_vec())));
    let failed = add.call(&[Some(&four), None]).unwrap_err();
    assert!(matches!(&failed, Failure::Failed(text) if text.contains("nil value (local 'b')")), "{failed:?}");
    assert_eq!(add.strict().call(&[Some(&four), None]), Ok(None));
    // An empty number is none.
    let strict = Made::new("lua", &[("a", DataType::Int)], DataType::Int, "return 1").strict();
    assert_eq!(strict.call(&[Some(b"")]), Ok(None));
}

#[test]
fn nothing_stays_from_call_to_call() {
    let sandbox = Sandbox::default();
    let bodies = ["n = (n or 0) + 1 return n", "local t = string\nrawset(_VERSION and {}, 'n', 1) return 1"];
    for body in bodies {
        let counter = Made::new("lua", &[], DataType::Int, body);
        for _ in 0..3 {
            let one = sandbox.call(&counter.definition(), &[]);
            assert_eq!(one, Ok(Some(1i32.to_be_bytes().to_vec())), "{body}");
        }
    }
    for body in [
        "string.x = 1 return 1",
        "rawset(string, 'x', 1) return 1",
        "setmetatable(string, {}) return 1",
        "('').x.y = 1 return 1",
        "getmetatable('').x = 1 return 1",
        "getmetatable(string).x = 1 return 1",
        "table.insert(string, 1) return 1",
    ] {
        let failed = lua(DataType::Int, body).unwrap_err();
        assert!(matches!(failed, Failure::Failed(_)), "{body}: {failed:?}");
    }
}

#[test]
fn there_is_nothing_of_the_machine() {
    for name in [
        "io",
        "os",
        "debug",
        "package",
        "require",
        "load",
        "loadstring",
        "loadfile",
        "dofile",
        "print",
        "collectgarbage",
        "coroutine",
        "math.random",
        "math.randomseed",
        "string.dump",
        "_G",
        "warn",
        "newproxy",
    ] {
        assert_eq!(text(&format!("return tostring({name})")), "nil", "{name}");
    }
}

#[test]
fn errors_are_the_functions_words() {
    assert_eq!(lua(DataType::Int, "error('no luck')"), Err(Failure::Failed("f:1: no luck".into())));
    assert_eq!(lua(DataType::Int, "\n\nerror('third')"), Err(Failure::Failed("f:3: third".into())));
    assert_eq!(lua(DataType::Int, "error('bare', 0)"), Err(Failure::Failed("bare".into())));
    assert!(
        matches!(lua(DataType::Int, "return 1 +"), Err(Failure::Broken(text)) if text.starts_with("f:1:"))
    );
    assert!(matches!(lua(DataType::Int, "return 1, 2"), Err(Failure::WrongResult(_))));
    assert_eq!(lua(DataType::Int, ""), Ok(None));
    assert!(matches!(lua(DataType::Int, "return {}"), Err(Failure::WrongResult(_))));
    assert!(matches!(lua(DataType::Int, "\x1bLua"), Err(Failure::Broken(_))));
    let keyword = Made::new("lua", &[("end", DataType::Int)], DataType::Int, "return 1");
    assert!(matches!(keyword.call(&[None]), Err(Failure::Broken(text)) if text.contains("end")));
}

#[test]
fn errors_can_be_caught() {
    assert_eq!(text("local ok, e = pcall(error, {code = 7}) return tostring(ok) .. e.code"), "false7");
    assert_eq!(text("return tostring(select(2, pcall(error, 'x', 0)))"), "x");
    assert_eq!(text("local ok, e = xpcall(error, function(e) return e .. '!' end, 'y', 0) return e"), "y!");
    assert_eq!(
        text("local ok, a, b = pcall(function(...) return ... end, 1, 2) return tostring(ok) .. a .. b"),
        "true12"
    );
}

#[test]
fn patterns_match_as_in_lua() {
    for (body, expected) in [
        ("return ('hello world'):match('^(%w+)')", "hello"),
        ("return (('key = value'):match('^(%w+)%s*=%s*(%w+)$'))", "key"),
        ("return table.concat({('key = value'):match('^(%w+)%s*=%s*(%w+)$')}, '|')", "key|value"),
        ("return table.concat({('hello'):find('l')}, ',')", "3,3"),
        ("return table.concat({('hello'):find('l+')}, ',')", "3,4"),
        ("return table.concat({('hello'):find('xyz') or 'none'}, ',')", "none"),
        ("return table.concat({('a.b'):find('.', 1, true)}, ',')", "2,2"),
        ("return table.concat({('a.b'):find('.', -1)}, ',')", "3,3"),
        ("return table.concat({('abc'):find('b', -10)}, ',')", "2,2"),
        ("return table.concat({('abc'):find('', 4)}, ',')", "4,3"),
        ("return tostring(('abc'):find('', 5))", "nil"),
        ("return ('hello world'):gsub('o', '0')", ""),
        ("return (('hello world'):gsub('o', '0'))", "hell0 w0rld"),
        ("return (('hello'):gsub('', '-'))", "-h-e-l-l-o-"),
        ("return (('abc'):gsub('%w', '%0%0'))", "aabbcc"),
        ("return (('abc'):gsub('(%w)(%w)', '%2%1'))", "bac"),
        ("return (('hello world'):gsub('%w+', {hello = 'bye'}))", "bye world"),
        ("return (('abc'):gsub('%w', function(c) if c == 'b' then return 'B' end end))", "aBc"),
        ("return (('abc abc'):gsub('abc', 'x', 1))", "x abc"),
        ("return (('  trim  '):gsub('^%s*(.-)%s*$', '%1'))", "trim"),
        ("return ('THE (quick) fox'):match('%((%a+)%)')", "quick"),
        ("return ('f(a(b)c)d'):match('%b()')", "(a(b)c)"),
        ("return ('THE (quick) fox'):gsub('%f[%a]%a+', string.lower)", ""),
        ("return (('THE (quick) fox'):gsub('%f[%a]%a+', string.lower))", "the (quick) fox"),
        ("return (('\"it\\'s\" x'):match('([\"\\'])(.-)%1'))", "\""),
        ("return (('2026-11-19'):match('(%d+)-(%d+)-(%d+)'))", "2026"),
        ("return tostring(('abc'):match('()c'))", "3"),
        ("return ('a]b'):match('[]]')", "]"),
        ("return ('a-b'):match('[a%-]+')", "a-"),
        ("return ('x^y'):match('[%^x]+')", "x^"),
        ("return ('abc'):match('[^a]+')", "bc"),
        (
            "local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end return table.concat(t, ' ')",
            "a1 b2",
        ),
        (
            "local t = {} for w in ('one two'):gmatch('%a+') do t[#t + 1] = w end return table.concat(t, '/')",
            "one/two",
        ),
        ("local n = 0 for _ in ('abc'):gmatch('') do n = n + 1 end return n", "4"),
        ("return ('x'):rep(3, '-')", "x-x-x"),
        ("return ('x'):rep(0) .. ('x'):rep(-1)", ""),
        ("return string.format('%5.2f|%d|%s|%q', 3.14159, 42, 'x', 'y')", " 3.14|42|x|\"y\""),
    ] {
        match expected {
            // Two results are one too many.
            "" if body.contains("gsub") => {
                assert!(matches!(lua(DataType::Text, body), Err(Failure::WrongResult(_))), "{body}");
            }
            expected => assert_eq!(text(body), expected, "{body}"),
        }
    }
    for wrong in ["[a", "%", "(a", "a)", "%1", "%f", "%b", "(()", "%bx"] {
        let failed = lua(DataType::Text, &format!("return ('abc'):match('{wrong}')"));
        assert!(matches!(failed, Err(Failure::Failed(_))), "{wrong}: {failed:?}");
    }
}

#[test]
fn tables_do_what_they_do_in_lua() {
    for (body, expected) in [
        ("local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')", "1,2,3"),
        (
            "local t = {'b', 'a', 'c'} table.sort(t, function(a, b) return a > b end) return table.concat(t)",
            "cba",
        ),
        (
            "local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) local ok = true for i = 2, 100 do ok = ok and t[i-1] <= t[i] end return tostring(ok)",
            "true",
        ),
        ("local t = {1, 2, 3} table.insert(t, 1, 0) table.insert(t, 4) return table.concat(t)", "01234"),
        ("local t = {1, 2, 3} local x = table.remove(t, 1) return table.concat(t) .. x", "231"),
        ("local t = {1, 2, 3} table.remove(t) return table.concat(t)", "12"),
        ("local t = {} return tostring(table.remove(t)) .. #t", "nil0"),
        ("return table.concat(table.move({1, 2, 3}, 1, 3, 2), ',')", "1,1,2,3"),
        ("return table.concat(table.move({1, 2, 3}, 2, 3, 1), ',')", "2,3,3"),
        ("return table.concat({table.unpack({1, 2, 3}, 2)}, ',')", "2,3"),
        ("return table.pack(1, nil, 3).n", "3"),
        ("return table.concat({1, 2.5, 'x'}, ' ', 2, 3)", "2.5 x"),
        ("local n = 0 for k in pairs(math) do n = n + 1 end return tostring(n > 10)", "true"),
        (
            "local c = setmetatable({}, {__index = function(_, k) return k .. '!' end}) return c.hello",
            "hello!",
        ),
        ("local p = setmetatable({x = 1}, {__add = function(a, b) return a.x + b end}) return p + 4", "5"),
        ("return math.tointeger(7 // 2) .. math.type(1.0) .. utf8.len('äöü')", "3float3"),
        ("local ok = pcall(setmetatable, {}, {__gc = function() end}) return tostring(ok)", "false"),
    ] {
        assert_eq!(text(body), expected, "{body}");
    }
}

#[test]
fn numbers_of_any_size_compute() {
    let ten = |of: DataType, body: &str| Made::new("lua", &[("a", of.clone())], of, body);
    let value = b"\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff".as_slice();
    let twice = ten(DataType::VarInt, "return a + a").call(&[Some(value)]).unwrap().unwrap();
    assert_eq!(twice, b"\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xfe");
    assert_eq!(ten(DataType::VarInt, "return a - a + 5").call(&[Some(value)]), Ok(Some(vec![5])));
    let compared = "if a > 1 and 1 < a and a == a and not (a <= 1) then return 1 else return 0 end";
    assert_eq!(ten(DataType::VarInt, compared).call(&[Some(value)]), Ok(Some(vec![1])));
    let shown =
        Made::new("lua", &[("a", DataType::Decimal)], DataType::Text, "return 'a' .. a .. tostring(-a)");
    // 1.25
    assert_eq!(shown.call(&[Some(&[0, 0, 0, 2, 125])]), Ok(Some(b"a1.25-1.25".to_vec())));
}
