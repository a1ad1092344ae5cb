internal import Glibc

/// The member names of all open objects, those of the innermost object last. It finds duplicate names.
///
/// A few names are compared with each other. An object with ``manyNames``, or with an escape in one of them, has a
/// table of hashes, so that each name is decoded once. The seed differs from process to process: no client can choose
/// names with the same hash.
struct JSONNames: Sendable {
    struct Name: Sendable {
        let span: JSONSpan
        let isEscaped: Bool
    }

    /// The names of one object by their hash: the hash in the upper half, the index among its names plus one in the
    /// lower half; 0 is free.
    private struct Table: Sendable {
        let outer: Int
        var slots: [UInt64]
        var count = 0
    }

    private static let manyNames = 16

    private var names: [Name] = []
    private var tables: [Table] = []

    /// The number of names, which is the index of the first name of the next object.
    var count: Int { names.count }

    mutating func removeAll() {
        let keeps = names.capacity <= 1_024
        names.removeAll(keepingCapacity: keeps)
        tables.removeAll()
    }

    /// Forgets the names of an object that is closed.
    mutating func close(_ outer: Int) {
        if names.count > outer { names.removeLast(names.count &- outer) }
        if let last = tables.last, last.outer >= outer { tables.removeLast() }
    }

    /// Adds a member name to the object whose names begin at `outer`.
    /// - Returns: false if the object already has the name.
    mutating func insert(_ name: Name, since outer: Int, of text: UnsafeRawBufferPointer) -> Bool {
        let needsTable = names.count &- outer >= JSONNames.manyNames || name.isEscaped || tables.last?.outer == outer
        guard needsTable ? insertIntoTable(name, outer, text) : isNew(name, outer, text) else { return false }
        names.append(name)
        return true
    }

    private func isNew(_ name: Name, _ outer: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        var index = outer
        while index < names.count {
            if JSONNames.areEqual(names[index], name, text) { return false }
            index &+= 1
        }
        return true
    }

    private static func areEqual(_ left: Name, _ right: Name, _ text: UnsafeRawBufferPointer) -> Bool {
        if left.isEscaped || right.isEscaped {
            return JSONString.decode(left.span.bytes(of: text)) == JSONString.decode(right.span.bytes(of: text))
        }
        guard left.span.count == right.span.count, let base = text.baseAddress else { return false }
        return memcmp(base + Int(left.span.start), base + Int(right.span.start), left.span.count) == 0
    }

    // MARK: Many names

    private mutating func insertIntoTable(_ name: Name, _ outer: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        if tables.last?.outer != outer {
            tables.append(Table(outer: outer, slots: [UInt64](repeating: 0, count: JSONNames.manyNames &* 4)))
            for index in outer..<names.count { _ = place(names[index], at: index &- outer, outer, text) }
        }
        return place(name, at: names.count &- outer, outer, text)
    }

    private mutating func place(_ name: Name, at index: Int, _ outer: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        let last = tables.count &- 1
        if tables[last].count &* 2 >= tables[last].slots.count { grow() }
        let hash = JSONNames.hash(name, text)
        let mask = tables[last].slots.count &- 1
        var slot = Int(hash) & mask
        while tables[last].slots[slot] != 0 {
            let found = tables[last].slots[slot]
            if UInt32(truncatingIfNeeded: found >> 32) == hash {
                let other = names[outer &+ Int(found & 0xFFFF_FFFF) &- 1]
                if JSONNames.areEqual(other, name, text) { return false }
            }
            slot = (slot &+ 1) & mask
        }
        tables[last].slots[slot] = UInt64(hash) << 32 | UInt64(index &+ 1)
        tables[last].count &+= 1
        return true
    }

    private mutating func grow() {
        let last = tables.count &- 1
        let old = tables[last].slots
        var slots = [UInt64](repeating: 0, count: old.count &* 2)
        let mask = slots.count &- 1
        for entry in old where entry != 0 {
            var slot = Int(entry >> 32) & mask
            while slots[slot] != 0 { slot = (slot &+ 1) & mask }
            slots[slot] = entry
        }
        tables[last].slots = slots
    }

    private static func hash(_ name: Name, _ text: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        let content = name.span.bytes(of: text)
        if name.isEscaped {
            JSONString.decode(content).withUnsafeBytes { hasher.combine(bytes: $0) }
        } else {
            hasher.combine(bytes: content)
        }
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
