internal import CarpoolJSON

// The state of the network, for several methods and an event.
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
            .required("status", .choice("reachable", "not_reachable", "unknown"), "Whether packets can leave."),
            .optional(
                "connection_type", .choice("ethernet_or_wifi", "cellular"),
                "The kind of connection, if it is reachable."),
        ]))

    private static let way: [Member] = [
        .optional("reason", unreachableReason, "Why packets cannot leave; absent if they can."),
        .optional("interface", .string, "The interface of the route."),
        .optional("gateway", .string, "The gateway of the route; absent if the destination is on the link."),
        .optional("source", .string, "The source address."),
    ]

    private static let family = JSONSchema.named(
        "AddressFamily",
        .answer(
            [.required("usable", .boolean, "Whether packets can leave.")] + way + [
                .optional(
                    "source_foreign", .constant(true), "The source address belongs to another interface.")
            ]))

    private static let interface = JSONSchema.named(
        "NetworkInterface",
        .answer([
            .required("name", .string, "Its name."),
            .required("index", .integer, "Its number, which does not change with the name."),
            .required("type", interfaceType, "The type of link."),
            .optional("kind", .string, "The kernel's kind of a virtual interface, such as `veth` or `bridge`."),
            .required("virtual", .boolean, "Whether it is virtual, without hardware."),
            .required("on_path", .boolean, "Whether the default route uses it."),
            .required("up", .boolean, "Whether it is enabled (IFF_UP)."),
            .required("carrier", .boolean, "Whether it has a carrier, such as a cable or a radio link."),
            .required("oper_state", .string, "Whether traffic can flow (RFC 2863), such as `up` or `dormant`."),
            .required("mtu", .count, "The largest packet in bytes."),
            .required("expensive", .boolean, "Whether its traffic is metered."),
            .required("constrained", .boolean, "Whether its traffic should be kept low."),
            .required(
                "addresses",
                .array(
                    of: .answer([
                        .required("address", .string, "The address."),
                        .required("prefix", .integer(0...128), "The length of the network prefix in bits."),
                        .required("scope", .choice("global", "link", "host"), "Its scope."),
                        .required(
                            "state", .choice("preferred", "deprecated", "tentative", "duplicate"),
                            "Its state in the kernel."),
                    ])), "Its addresses."),
        ]))

    /// The members of a snapshot.
    static let reachabilityMembers: [Member] = [
        .required("seq", .count, "Grows with every change that is reported."),
        .required("generation", .count, "Grows with every notification of the kernel."),
        .required("time", .time, "The time of the snapshot."),
        .required("monotonic_ns", .count, "The same on the monotonic clock, in nanoseconds."),
        .required("status", reachabilityStatus, "Whether packets can leave to the internet."),
        .optional("unsatisfied_reason", unreachableReason, "Why packets cannot leave."),
        .required("model_status", modelStatus, "The same in Alamofire's three values."),
        .optional("flags", reachabilityFlags, "The same as SCNetworkReachability's flags; absent if unknown."),
        .optional("interface", .string, "The interface of the default route."),
        .required("interfaces", .array(of: interface), "All interfaces; those that traffic leaves by come first."),
        .optional("truncated", .constant(true), "There were more interfaces or addresses than fit the line."),
        .required("gateways", .array(of: .string), "The addresses of the gateways of the default routes."),
        .required("supports_ipv4", .boolean, "Whether IPv4 can be used."),
        .required("supports_ipv6", .boolean, "Whether IPv6 can be used."),
        .required("supports_dns", .boolean, "Whether packets to a name server can leave."),
        .required("ipv4", family, "The route of IPv4."),
        .required("ipv6", family, "The route of IPv6."),
        .required(
            "dns",
            .answer([
                .required("servers", .array(of: .string), "Their addresses."),
                .required("source", .string, "The file that lists them."),
            ]), "The name servers."),
        .required("is_expensive", .boolean, "Whether traffic to the internet is metered."),
        .required("is_constrained", .boolean, "Whether traffic to the internet should be kept low."),
        .optional(
            "tunnel",
            .answer([
                .required("interface", .string, "Its interface."),
                .required("underlying", .boolean, "Whether there is a network below the tunnel."),
            ]), "The tunnel of the default route."),
        .optional("network_id", .string, "An identifier of the network, from its gateway and subnet."),
        .required(
            "monitor",
            .answer([
                .required(
                    "source", .choice("rtnetlink", "poll", "override", "none"), "The source of the state."),
                .required("evaluations", .count, "Evaluations of the whole state."),
                .required("datagrams", .count, "Messages received from the kernel."),
                .required("resyncs", .count, "Times that the kernel dropped messages."),
            ]), "How the network is monitored."),
    ]

    /// The state of the network.
    static let reachability = JSONSchema.named("Reachability", .answer(reachabilityMembers))

    /// The routes to one host.
    static let hostReachability = JSONSchema.named(
        "HostReachability",
        .answer([
            .required("host", .string, "The host of the call."),
            .required("status", reachabilityStatus, "Whether packets to one of its addresses can leave."),
            .required("model_status", modelStatus, "The same in Alamofire's three values."),
            .optional("flags", reachabilityFlags, "The same as SCNetworkReachability's flags."),
            .required(
                "addresses",
                .array(
                    of: .answer(
                        [
                            .required("address", .string, "The address."),
                            .required("status", reachabilityStatus, "Whether packets to it can leave."),
                        ] + way + [
                            .optional("type", interfaceType, "The type of link."),
                            .required("is_direct", .boolean, "Whether it is reached without a gateway."),
                            .required("is_local_address", .boolean, "Whether it is an address of this machine."),
                            .required("is_expensive", .boolean, "Whether traffic to it is metered."),
                        ])), "Its addresses, in the order in which a connection would try them."),
            .optional(
                "dns",
                .answer([
                    .optional("ms", .count, "The time of the name's resolution."),
                    .optional(
                        "error",
                        .choice("cannot_find_host", "dns_lookup_failed", "too_many_lookups", "resource_unavailable"),
                        "Why the name has no addresses."),
                ]), "How its name was resolved."),
        ]))

    /// The members of `data` of `reachability.changed`.
    static let reachabilityChange: [Member] = [
        .required(
            "level", .choice("major", "minor"), "`major`: connections are affected. `minor`: only details changed."),
        .required(
            "changed",
            .array(
                of: .choice(
                    "status", "interface", "ipv4", "ipv6", "network_id", "dns", "is_expensive", "is_constrained",
                    "gateways", "addresses", "hosts")), "The members that changed since the last event."),
        .required(
            "causes",
            .array(of: .choice("link", "address", "route", "overflow", "dns", "asked", "tick", "configuration")),
            "The causes of the evaluation."),
        .required(
            "previous",
            .answer([
                .required("seq", .count, "Its number."),
                .required("status", reachabilityStatus, "Its status."),
                .optional("interface", .string, "Its interface."),
            ]), "The state of the last event."),
        .required("first_event_ns", .count, "The time of the first notification, on the monotonic clock."),
        .required("latency_us", .count, "The time from there to this result."),
        .required("removed_addresses", .array(of: .string), "Addresses that were removed from all interfaces."),
        .optional("hosts", .array(of: hostReachability), "The hosts of the watch, if the routes to them have changed."),
        .optional("lagged", .count, "The number of changes that were skipped because the client did not read."),
        .required("reachability", reachability, "The current state."),
    ]
}
