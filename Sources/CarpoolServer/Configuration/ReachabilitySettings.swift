internal import CarpoolJSON
public import CarpoolReachability

/// The `reachability` section of the configuration.
public struct ReachabilitySettings: Equatable, Sendable {
    /// Settings of the manager.
    public var manager = ReachabilityConfiguration()
    /// Default debouncing for listeners.
    public var listener = Debouncer.Settings()

    /// The defaults.
    public init() {}

    /// The section's form.
    static let schema = JSONSchema.object([
        .init(
            "sentinels", .array(of: .string(maxBytes: 64), count: 1...16),
            "Addresses that stand for the whole world. Nothing is sent to them."),
        .init("lost_after_ms", .integer(0...60_000), "How long a loss must last before it is reported."),
        .init("back_after_ms", .integer(0...60_000), "How long a return must last before it is reported."),
        .init(
            "expensive_interfaces", .array(of: .string(maxBytes: 64), count: 0...64),
            "Names of interfaces over which traffic costs money, besides modems; `*` stands for any characters."),
        .init(
            "constrained_interfaces", .array(of: .string(maxBytes: 64), count: 0...64),
            "Names of interfaces over which traffic should be kept low; `*` stands for any characters."),
        .init(
            "override", .choice("satisfied", "unsatisfied", "requires_connection", "unknown"),
            "A status that is reported in place of the real one."),
        .init("resolv_conf", .string(maxBytes: 4_096), "The list of name servers, an absolute path."),
        .init(
            "receive_buffer_bytes", .integer(1_024...268_435_456),
            "Room for the kernel's messages; if it is too small, the state is read again more often."),
    ])

    /// Reads a section that has passed its schema.
    init(checked json: JSON) throws(JSONError) {
        if let sentinels = json["sentinels"] {
            manager.sentinels = []
            for (index, text) in ReachabilitySettings.strings(sentinels).enumerated() {
                guard let address = IPAddress(text) else {
                    var error = JSONError(.schema, "\(text.prefix(64).debugDescription) is no address")
                    error.path = "configuration.reachability.sentinels[\(index)]"
                    error.expected = "an address of IPv4 or IPv6"
                    throw error
                }
                manager.sentinels.append(address)
            }
        }
        if let value = json["lost_after_ms"]?.int { listener.lostAfterMilliseconds = value }
        if let value = json["back_after_ms"]?.int { listener.backAfterMilliseconds = value }
        if let names = json["expensive_interfaces"] {
            manager.expensiveInterfaces = ReachabilitySettings.strings(names)
        }
        if let names = json["constrained_interfaces"] {
            manager.constrainedInterfaces = ReachabilitySettings.strings(names)
        }
        manager.override = json["override"]?.string.flatMap(ReachabilityStatus.init(rawValue:))
        if let path = json["resolv_conf"]?.string { manager.resolverPath = path }
        if let value = json["receive_buffer_bytes"]?.int { manager.receiveBufferBytes = value }
    }

    private static func strings(_ json: JSON) -> [String] {
        (0..<json.count).compactMap { json[index: $0]?.string }
    }

    /// All of them, by name.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("sentinels", manager.sentinels.map(\.description))
        writer.member("lost_after_ms", listener.lostAfterMilliseconds)
        writer.member("back_after_ms", listener.backAfterMilliseconds)
        writer.member("expensive_interfaces", manager.expensiveInterfaces)
        writer.member("constrained_interfaces", manager.constrainedInterfaces)
        writer.member("override", manager.override?.rawValue)
        writer.member("resolv_conf", manager.resolverPath)
        writer.member("receive_buffer_bytes", manager.receiveBufferBytes)
        writer.endObject()
    }
}
