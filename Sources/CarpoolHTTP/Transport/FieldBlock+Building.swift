extension FieldBlock {
    /// Adds a field.
    public mutating func append(name: String, value: String) {
        var line = "\(name): \(value)"
        _ = line.withUTF8 { append(line: UnsafeRawBufferPointer($0)) }
    }

    /// Adds a field from the bytes of its name and its value.
    public mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(byteCount: name.count + value.count + 1, alignment: 1) { line in
            line.copyMemory(from: name)
            line[name.count] = UInt8(ascii: ":")
            UnsafeMutableRawBufferPointer(rebasing: line[(name.count + 1)...]).copyMemory(from: value)
            _ = append(line: UnsafeRawBufferPointer(line))
        }
    }

    /// The fields whose names a function accepts, in order.
    public func filtered(_ isKept: (_ name: UnsafeRawBufferPointer) -> Bool) -> FieldBlock {
        var block = FieldBlock(expectedBytes: byteCount)
        forEach { name, value in
            if isKept(name) { block.append(name: name, value: value) }
        }
        return block
    }
}
