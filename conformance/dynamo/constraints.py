"""Is what Partita says about a member true? `Value 'ab' at 'tableName' failed to satisfy constraint: …` is held against the request."""

import re

CLAUSE = re.compile(r"Value (null|'.*?') at '(.*?)' failed to satisfy constraint: (.*?)(?=; Value |$)", re.S)


def find(node, path):
    """What stands at `globalSecondaryIndexes.1.member.indexName` of the request; None if nothing does."""
    parts = path.split(".")
    while parts and node is not None:
        part = parts.pop(0)
        if isinstance(node, list):
            number = int(part) - 1 if part.isdigit() else -1
            node = node[number] if 0 <= number < len(node) else None
        elif isinstance(node, dict):
            # Names of members begin with a capital letter in requests; keys of maps are as they are, and may hold dots.
            name = next((known for known in node if known.lower() == part.lower()), None)
            while name is None and parts and parts[0] != "member":
                part += "." + parts.pop(0)
                name = next((known for known in node if known.lower() == part.lower()), None)
            node = node.get(name)
        else:
            return None
        if parts and parts[0] == "member":
            parts.pop(0)
    return node


def broken(value, rule):
    """Whether the value breaks the rule; None if this does not know the rule."""
    if rule == "Member must not be null":
        return value is None
    if value is None:
        return False
    found = re.fullmatch(r"Member must have length (greater|less) than or equal to (\d+)", rule)
    if found:
        length = len(value)
        return length < int(found.group(2)) if found.group(1) == "greater" else length > int(found.group(2))
    found = re.fullmatch(r"Member must have value (greater|less) than or equal to (\d+)", rule)
    if found:
        return value < int(found.group(2)) if found.group(1) == "greater" else value > int(found.group(2))
    found = re.fullmatch(r"Member must satisfy regular expression pattern: (.*)", rule)
    if found:
        return re.fullmatch(found.group(1), value) is None
    found = re.fullmatch(r"Member must satisfy enum value set: \[(.*)\]", rule)
    if found:
        return value not in found.group(1).split(", ")
    return None


def are_true(request, message):
    """Whether the message is about members, every clause of it is true, and it counts them right."""
    head = re.match(r"(\d+) validation errors? detected: ", message or "")
    if head is None:
        return False
    clauses = CLAUSE.findall(message[head.end():])
    if len(clauses) != int(head.group(1)):
        return False
    return all(broken(find(request, path), rule) is True for _, path, rule in clauses)
