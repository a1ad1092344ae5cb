/// The families of network addresses.
public struct AddressFamilies: OptionSet, Hashable, Sendable {
    /// One bit for each family.
    public let rawValue: UInt8
    /// Families by their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// IPv4.
    public static let ipv4 = AddressFamilies(rawValue: 1)
    /// IPv6.
    public static let ipv6 = AddressFamilies(rawValue: 2)
    /// Both.
    public static let all: AddressFamilies = [.ipv4, .ipv6]
}
