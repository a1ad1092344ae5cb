internal import CarpoolJSON

/// `reachability.*`: the state of the network, without sending packets.
enum ReachabilityMethods {
    static let all: [Method] = [get, watch, unwatch]

    static let snapshot = #"""
        "seq":1,"generation":0,"time":"2026-09-30T10:00:00.123456Z","monotonic_ns":2432902352558,"status":"satisfied",\#
        "model_status":{"status":"reachable","connection_type":"ethernet_or_wifi"},"flags":["reachable"],\#
        "interface":"eth0","interfaces":[{"name":"eth0","index":2,"type":"wired_ethernet","virtual":false,"on_path":true,\#
        "up":true,"carrier":true,"oper_state":"up","mtu":1500,"expensive":false,"constrained":false,"addresses":\#
        [{"address":"192.168.1.7","prefix":24,"scope":"global","state":"preferred"}]}],"gateways":["192.168.1.1"],\#
        "supports_ipv4":true,"supports_ipv6":false,"supports_dns":true,"ipv4":{"usable":true,"interface":"eth0",\#
        "gateway":"192.168.1.1","source":"192.168.1.7"},"ipv6":{"usable":false,"reason":"no_route"},\#
        "dns":{"servers":["192.168.1.1"],"source":"/etc/resolv.conf"},"is_expensive":false,"is_constrained":false,\#
        "network_id":"9f2c1e","monitor":{"source":"rtnetlink","evaluations":1,"datagrams":0,"resyncs":0}
        """#

    private static let get = Method(
        "reachability.get", role: .observe, "Returns whether packets can leave, to public addresses or to one host.",
        """
        Sends nothing: it asks the kernel how it would route a packet. A packet that can leave may still not arrive. The \
        result explains why a request failed and when to retry; do not use it to decide whether to send a request.
        """,
        params: [
            .optional(
                "fresh", .boolean,
                """
                Whether to query the drivers of the interfaces and evaluate the state again before the answer. Without it, a \
                pulled cable may be reported a second later.
                """, default: "false"),
            .optional("host", .string(maxBytes: 255), "A name or an address; the answer has its routes too."),
            .optional("resolve", .boolean, "Whether to resolve a name.", default: "true"),
        ],
        result: .answer(
            JSONSchema.reachabilityMembers + [.optional("host", .hostReachability, "The routes to the host.")]),
        isInterruptible: true,
        examples: [
            .init("now", result: "{\(snapshot)}"),
            .init(
                "the ways to an address", params: #"{"host":"127.0.0.1","fresh":true}"#,
                result: #"""
                    {\#(snapshot),"host":{"host":"127.0.0.1","status":"satisfied","model_status":{"status":"reachable",\#
                    "connection_type":"ethernet_or_wifi"},"flags":["reachable","is_local_address","is_direct"],"addresses":\#
                    [{"address":"127.0.0.1","status":"satisfied","interface":"lo","source":"127.0.0.1","type":"loopback",\#
                    "is_direct":true,"is_local_address":true,"is_expensive":false}]}}
                    """#),
        ])

    private static let watch = Method(
        "reachability.watch", role: .observe, "Subscribes this connection to changes of the network.",
        """
        Each change is an event `reachability.changed` with this `sub`. The answer has the current state, so that no \
        change is missed in between. A client that does not read gets the newest state later, with `lagged`. A \
        subscription to `reachability.changed` with `events.subscribe` gets the same events with the daemon's settings.
        """,
        params: [
            .optional(
                "hosts", .array(of: .string(maxBytes: 255), count: 0...16),
                "Names or addresses; changes of their routes are reported too.", default: "[]"),
            .optional(
                "level", .choice("major", "minor"),
                "`major`: changes that affect connections. `minor`: details of the same network too.",
                default: "\"major\""),
            .optional(
                "lost_after_ms", .integer(0...60_000),
                "How long a loss must last before it is reported. Default: the configuration's, 250."),
            .optional(
                "back_after_ms", .integer(0...60_000),
                "How long a return must last before it is reported. Default: the configuration's, 0."),
            .optional(
                "min_interval_ms", .integer(0...60_000), "The least time between two events.", default: "100"),
        ],
        result: .answer([
            .required("sub", .string, "The watch's name, which is in its events."),
            .required("cursor", .string, "The position in the stream of events."),
            .required("reachability", .reachability, "The current state."),
            .optional("hosts", .array(of: .hostReachability), "The routes to the hosts, as far as they are known."),
        ]), errors: [.tooManyInFlight],
        examples: [
            .init(
                "reported at once", params: #"{"lost_after_ms":0}"#,
                result: #"{"sub":"s1","cursor":"k3f9.10442","reachability":{\#(snapshot)}}"#)
        ])

    private static let unwatch = Method(
        "reachability.unwatch", role: .observe, "Ends a watch of this connection.",
        "After the answer no event of it is sent. A name without a watch is not an error.",
        params: [.required("sub", .string(maxBytes: 64), "The watch's name.")], result: .stateChange,
        examples: [.init("one", params: #"{"sub":"${sub}"}"#, result: #"{"changed":true,"state":"unsubscribed"}"#)])
}
