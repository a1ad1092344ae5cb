/// Makes decisions of the bytes of an input, from its beginning to its end; without bytes all numbers are 0.
struct Choices {
    private(set) var rest: UnsafeRawBufferPointer

    init(_ input: UnsafeRawBufferPointer) { rest = input }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 {
        guard let byte = rest.first else { return 0 }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        return byte
    }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

    /// A number below `bound`.
    mutating func number(below bound: Int) -> Int { Int(byte()) % bound }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(rest.prefix(count))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        return taken
    }

    mutating func text(atMost count: Int) -> String {
        let length = number(below: count + 1)
        return String(decoding: bytes(length), as: UTF8.self)
    }
}
