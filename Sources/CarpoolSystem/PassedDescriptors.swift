/// Up to four descriptors that are passed with a message (SCM_RIGHTS, unix(7)). They stay open here.
///
/// Not an array: a short program would spend 40,000 instructions to make the type of an array of 32-bit numbers.
public struct PassedDescriptors: Sendable {
    private var numbers: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
    /// The number of descriptors.
    public let count: Int

    /// None.
    public static let none = PassedDescriptors(count: 0)

    private init(count: Int) { self.count = count }

    /// One descriptor.
    public init(_ first: Int32) {
        count = 1
        numbers.0 = first
    }

    /// Two descriptors.
    public init(_ first: Int32, _ second: Int32) {
        count = 2
        (numbers.0, numbers.1) = (first, second)
    }

    /// Calls the body with the numbers in their order.
    func withNumbers<Result>(_ body: (UnsafePointer<Int32>) -> Result) -> Result {
        withUnsafePointer(to: numbers) { tuple in
            tuple.withMemoryRebound(to: Int32.self, capacity: 4) { body($0) }
        }
    }
}
