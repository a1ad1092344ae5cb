internal import CarpoolJSON

/// Finds where values stand in a text that the parser has accepted.
///
/// The parser keeps values, not their spelling; an id must be echoed as it was spelled. On other texts the results are
/// wrong, but still within bounds.
enum RawJSON {
    /// The text of the value of an object's member, if it has one of that name.
    static func member(_ name: StaticString, of object: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var position = 0
        skipBlanks(object, &position)
        position &+= 1
        while true {
            skipBlanks(object, &position)
            let key = skipValue(object, &position)
            guard !key.isEmpty else { return nil }
            skipBlanks(object, &position)
            position &+= 1
            skipBlanks(object, &position)
            let value = skipValue(object, &position)
            if isName(key, name) { return value }
            skipBlanks(object, &position)
            position &+= 1
        }
    }

    /// The texts of an array's elements.
    static func elements(of array: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var found: [UnsafeRawBufferPointer] = []
        var position = 0
        skipBlanks(array, &position)
        position &+= 1
        while true {
            skipBlanks(array, &position)
            let value = skipValue(array, &position)
            guard !value.isEmpty else { return found }
            found.append(value)
            skipBlanks(array, &position)
            position &+= 1
        }
    }

    private static func isName(_ key: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        // A name spelled with escapes is decoded by the parser; that is rare, so the others are compared as they are.
        if key.contains(UInt8(ascii: "\\")) { return (try? JSON.parse(key))?.isString(name) ?? false }
        let name = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return key.count == name.count &+ 2 && key[1...].starts(with: name)
    }

    private static func skipBlanks(_ text: UnsafeRawBufferPointer, _ position: inout Int) {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position &+= 1
            default: return
            }
        }
    }

    /// Skips one value and gives its text; empty if none starts here.
    private static func skipValue(
        _ text: UnsafeRawBufferPointer, _ position: inout Int
    ) -> UnsafeRawBufferPointer {
        let start = position
        var depth = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                skipString(text, &position)
                if depth == 0 { return UnsafeRawBufferPointer(rebasing: text[start..<position]) }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth &+= 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The bracket around it: a number or word ends here.
                guard depth > 0 else { return UnsafeRawBufferPointer(rebasing: text[start..<position]) }
                depth &-= 1
                if depth == 0 {
                    position &+= 1
                    return UnsafeRawBufferPointer(rebasing: text[start..<position])
                }
            case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                if depth == 0 { return UnsafeRawBufferPointer(rebasing: text[start..<position]) }
            default: break
            }
            position &+= 1
        }
        return UnsafeRawBufferPointer(rebasing: text[min(start, text.count)...])
    }

    private static func skipString(_ text: UnsafeRawBufferPointer, _ position: inout Int) {
        position &+= 1
        while position < text.count, text[position] != UInt8(ascii: "\"") {
            position &+= text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position &+ 1, text.count)
    }
}
