internal import CLinux

/// Up to 16 descriptors that are passed with a message (SCM_RIGHTS, unix(7)). They stay open here.
///
/// Not an array: a short program would spend 40,000 instructions to make the type of an array of 32-bit numbers.
public struct PassedDescriptors: Sendable {
    private typealias Quadruple = (Int32, Int32, Int32, Int32)

    private var numbers: (Quadruple, Quadruple, Quadruple, Quadruple) = (
        (-1, -1, -1, -1), (-1, -1, -1, -1), (-1, -1, -1, -1), (-1, -1, -1, -1)
    )
    /// The number of descriptors.
    public private(set) var count: Int

    /// The most descriptors: as many as the daemon takes with a line.
    public static var maximumCount: Int { Int(CLINUX_MOST_DESCRIPTORS) }

    /// None.
    public static let none = PassedDescriptors(count: 0)

    private init(count: Int) { self.count = count }

    /// One descriptor.
    public init(_ first: Int32) {
        count = 1
        numbers.0.0 = first
    }

    /// Two descriptors.
    public init(_ first: Int32, _ second: Int32) {
        count = 2
        (numbers.0.0, numbers.0.1) = (first, second)
    }

    /// Adds a descriptor. Returns false if there is no room for it.
    public mutating func append(_ descriptor: Int32) -> Bool {
        guard count < PassedDescriptors.maximumCount else { return false }
        withUnsafeMutableBytes(of: &numbers) { bytes in
            bytes.storeBytes(of: descriptor, toByteOffset: count * MemoryLayout<Int32>.stride, as: Int32.self)
        }
        count += 1
        return true
    }

    /// Calls the body with the numbers in their order.
    func withNumbers<Result>(_ body: (UnsafePointer<Int32>) -> Result) -> Result {
        withUnsafePointer(to: numbers) { tuple in
            tuple.withMemoryRebound(to: Int32.self, capacity: PassedDescriptors.maximumCount) { body($0) }
        }
    }
}
