internal import CarpoolJSON

// How the network stands, as several methods and an event tell it.
extension JSONSchema {
    private static let reachabilityStatus = choice("satisfied", "unsatisfied", "requires_connection", "unknown")
    private static let unreachableReason = choice(
        "no_interface", "no_carrier", "no_address", "no_route", "unreachable", "prohibited", "blackhole",
        "link_local_only", "vpn_inactive")
    private static let interfaceType = choice("wifi", "cellular", "wired_ethernet", "loopback", "other")
    private static let reachabilityFlags = array(
        of: choice(
            "reachable", "transient_connection", "connection_required", "is_local_address", "is_direct", "is_wwan"))

    private static let modelStatus = JSONSchema.named(
        "ModelStatus",
        .answer([
            .required("status", .choice("reachable", "not_reachable", "unknown"), "In one word."),
            .optional(
                "connection_type", .choice("ethernet_or_wifi", "cellular"), "Over what, if it is reachable."),
        ]))

    private static let way: [Member] = [
        .optional("reason", unreachableReason, "Why packets cannot leave; absent if they can."),
        .optional("interface", .string, "The interface that they would leave by."),
        .optional("gateway", .string, "The machine that they would be handed to; absent on the link itself."),
        .optional("source", .string, "The address that they would come from."),
    ]

    private static let family = JSONSchema.named(
        "AddressFamily",
        .answer(
            [.required("usable", .boolean, "Whether packets can leave.")] + way + [
                .optional(
                    "source_foreign", .constant(true), "The source is another interface's: the kernel has borrowed it.")
            ]))

    private static let interface = JSONSchema.named(
        "NetworkInterface",
        .answer([
            .required("name", .string, "Its name."),
            .required("index", .integer, "Its number, which stays when the name changes."),
            .required("type", interfaceType, "What sort of link it is."),
            .optional("kind", .string, "The kernel's kind of a virtual interface, such as `veth` or `bridge`."),
            .required("virtual", .boolean, "Whether it has no hardware of its own."),
            .required("on_path", .boolean, "Whether traffic to the world leaves by it."),
            .required("up", .boolean, "Whether it is switched on."),
            .required("carrier", .boolean, "Whether there is a cable, or what stands for it."),
            .required("oper_state", .string, "Whether traffic can flow (RFC 2863), such as `up` or `dormant`."),
            .required("mtu", .count, "The largest packet in bytes."),
            .required("expensive", .boolean, "Whether its traffic costs money."),
            .required("constrained", .boolean, "Whether its traffic should be kept low."),
            .required(
                "addresses",
                .array(
                    of: .answer([
                        .required("address", .string, "The address."),
                        .required("prefix", .integer(0...128), "How many bits name its network."),
                        .required("scope", .choice("global", "link", "host"), "How far it counts."),
                        .required(
                            "state", .choice("preferred", "deprecated", "tentative", "duplicate"),
                            "What the kernel lets be done with it."),
                    ])), "Its addresses."),
        ]))

    /// The members of a snapshot.
    static let reachabilityMembers: [Member] = [
        .required("seq", .count, "Grows with everything worth telling."),
        .required("generation", .count, "Grows whenever the kernel said that something had changed."),
        .required("time", .time, "When it was read."),
        .required("monotonic_ns", .count, "The same by the machine's monotonic clock, in nanoseconds."),
        .required("status", reachabilityStatus, "Whether packets can leave for the world."),
        .optional("unsatisfied_reason", unreachableReason, "Why they cannot."),
        .required("model_status", modelStatus, "The same in the three words of Alamofire."),
        .optional("flags", reachabilityFlags, "The same as SCNetworkReachability's flags; absent if unknown."),
        .optional("interface", .string, "The interface that traffic to the world leaves by."),
        .required("interfaces", .array(of: interface), "All interfaces; those that traffic leaves by come first."),
        .optional("truncated", .constant(true), "There were more interfaces or addresses than fit the line."),
        .required("gateways", .array(of: .string), "The machines that traffic to the world is handed to."),
        .required("supports_ipv4", .boolean, "Whether IPv4 can be used."),
        .required("supports_ipv6", .boolean, "Whether IPv6 can be used."),
        .required("supports_dns", .boolean, "Whether packets to a name server can leave."),
        .required("ipv4", family, "The way of IPv4."),
        .required("ipv6", family, "The way of IPv6."),
        .required(
            "dns",
            .answer([
                .required("servers", .array(of: .string), "Their addresses."),
                .required("source", .string, "The file that lists them."),
            ]), "The name servers."),
        .required("is_expensive", .boolean, "Whether traffic to the world costs money."),
        .required("is_constrained", .boolean, "Whether traffic to the world should be kept low."),
        .optional(
            "tunnel",
            .answer([
                .required("interface", .string, "Its interface."),
                .required("underlying", .boolean, "Whether there is a network under it."),
            ]), "The tunnel that traffic to the world goes into."),
        .optional("network_id", .string, "A name for the network: another gateway or subnet has another."),
        .required(
            "monitor",
            .answer([
                .required(
                    "source", .choice("rtnetlink", "poll", "override", "none"), "Where the knowledge comes from."),
                .required("evaluations", .count, "Looks at the whole state."),
                .required("datagrams", .count, "What the kernel has sent."),
                .required("resyncs", .count, "Times that the kernel had to throw messages away."),
            ]), "How it is watched."),
    ]

    /// How the network stands.
    static let reachability = JSONSchema.named("Reachability", .answer(reachabilityMembers))

    /// The ways to one host.
    static let hostReachability = JSONSchema.named(
        "HostReachability",
        .answer([
            .required("host", .string, "As it was named."),
            .required("status", reachabilityStatus, "Whether packets to one of its addresses can leave."),
            .required("model_status", modelStatus, "The same in the three words of Alamofire."),
            .optional("flags", reachabilityFlags, "The same as SCNetworkReachability's flags."),
            .required(
                "addresses",
                .array(
                    of: .answer(
                        [
                            .required("address", .string, "The address."),
                            .required("status", reachabilityStatus, "Whether packets to it can leave."),
                        ] + way + [
                            .optional("type", interfaceType, "What sort of link it is."),
                            .required("is_direct", .boolean, "Whether no gateway lies in between."),
                            .required("is_local_address", .boolean, "Whether it is this machine's own."),
                            .required("is_expensive", .boolean, "Whether traffic to it costs money."),
                        ])), "Its addresses, in the order in which a connection would try them."),
            .optional(
                "dns",
                .answer([
                    .optional("ms", .count, "How long the look-up of the name took."),
                    .optional(
                        "error", .choice("cannot_find_host", "dns_lookup_failed", "too_many_lookups"),
                        "Why it has no addresses."),
                ]), "How its name was looked up."),
        ]))

    /// The members of `data` of `reachability.changed`.
    static let reachabilityChange: [Member] = [
        .required("level", .choice("major", "minor"), "Whether connections are concerned, or only details."),
        .required(
            "changed",
            .array(
                of: .choice(
                    "status", "interface", "ipv4", "ipv6", "network_id", "dns", "is_expensive", "is_constrained",
                    "gateways", "addresses", "hosts")), "What differs from what was told before."),
        .required(
            "causes",
            .array(of: .choice("link", "address", "route", "overflow", "dns", "asked", "tick", "configuration")),
            "What made the daemon look."),
        .required(
            "previous",
            .answer([
                .required("seq", .count, "Its number."),
                .required("status", reachabilityStatus, "Its status."),
                .optional("interface", .string, "Its interface."),
            ]), "What was told before."),
        .required("first_event_ns", .count, "When the first sign came, by the machine's monotonic clock."),
        .required("latency_us", .count, "How long after that the network was found as it is."),
        .required("removed_addresses", .array(of: .string), "Addresses that no interface has any more."),
        .optional("hosts", .array(of: hostReachability), "The hosts of the watch, if the ways to them have changed."),
        .optional("lagged", .count, "How many changes were passed over because the client did not read."),
        .required("reachability", reachability, "How it stands."),
    ]
}
