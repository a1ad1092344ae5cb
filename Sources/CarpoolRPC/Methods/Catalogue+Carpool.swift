internal import CarpoolJSON

extension Catalogue {
    /// Everything that this version of the daemon can do.
    public static let carpool = Catalogue(
        methods: RPCMethods.all + ClientMethods.all + DaemonMethods.all + SessionMethods.all
            + CredentialMethods.all + CookieMethods.all + CacheMethods.all + RequestMethods.all + BodyMethods.all
            + StreamMethods.all
            + PoolMethods.all + EventsMethods.all + ReachabilityMethods.all,
        notifications: [event, data, outputNeeded],
        callbacks: CallbackMethods.all)

    private static let data = NotificationDescription(
        name: "request.data", summary: "The next piece of a stream.",
        description: "Sent after `request.attach`, as long as there is credit. The last one has `complete`.",
        params: .answer(
            [.required("reader", .string, "The reader that it is for.")] + JSONSchema.streamMessage),
        example: """
            {"jsonrpc":"2.0","method":"request.data","params":{"reader":"d1","request":"r_k3f9_1a","as":"lines","seq":1,\
            "attempt":1,"size_bytes":12,"lines":["hello","world"]}}
            """, types: [])

    private static let outputNeeded = NotificationDescription(
        name: "request.output_needed", summary: "A request has something to write, and no descriptor.",
        description: """
            Sent once for a request whose `response_body` has `"fd": "on_demand"`, unless its body is in the record. The \
            transfer waits until `request.output` passes a descriptor.
            """,
        params: .answer([
            .required("request", .requestName, "The request."),
            .optional("call", .oneOf(.string, .number, .null), "The `id` of the call that made it."),
        ]),
        example: """
            {"jsonrpc":"2.0","method":"request.output_needed","params":{"request":"r_k3f9_1a","call":7}}
            """, types: [])

    private static let event = NotificationDescription(
        name: "event", summary: "An event that matches a subscription.",
        description: "Sent after `events.subscribe`, or for a request with `events`. `data` depends on the type.",
        params: .answer(
            [.required("sub", .string, "The subscription that it is for.")] + JSONSchema.eventMembers),
        example: """
            {"jsonrpc":"2.0","method":"event","params":{"sub":"s1","cursor":"k3f9.10450","time":"2026-09-30T10:00:00.123456Z",\
            "type":"request.did_finish","session":"default","request":"r_k3f9_1a","client":"c-17","attempt":1,\
            "data":{"state":"finished","ok":true,"status":200,"size_bytes":6}}}
            """, types: EventType.rows)
}
