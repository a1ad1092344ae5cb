internal import CarpoolJSON

/// `rpc.*`: the description of the protocol, and cancelling calls.
enum RPCMethods {
    static let all: [Method] = [discover, cancel]

    private static let discover = Method(
        "rpc.discover", role: .observe, "Describes every method, notification and error.",
        """
        Answers with an OpenRPC 1.3.2 document, made from the table that calls are checked against. Roles, aliases, \
        notifications, callbacks and the table of errors are in members whose names begin with `x-`. The answer is one \
        long line, the only one that may exceed the client's line limit.
        """,
        result: .object(
            [
                .required("openrpc", .string, "The version of OpenRPC."),
                .required("info", .object([], additional: .allowed), "Title and version."),
                .required("methods", .array(of: .object([], additional: .allowed)), "The methods."),
            ], additional: .allowed),
        examples: [
            .init(
                "the whole document",
                result: #"{"openrpc":"1.3.2","info":{"title":"Carpool","version":"0.1.0"},"methods":[]}"#)
        ])

    private static let cancel = Method(
        "rpc.cancel", aliases: ["$/cancelRequest"], role: .observe, "Cancels a call of this connection.",
        """
        The call with that id answers with -32800 `cancelled`, unless its answer was written already. The HTTP request \
        that the call waits for continues, unless `request` is true; `request.cancel` ends it later. May be sent as a \
        notification. An unknown id is no error, since the answer may be on its way.
        """,
        params: [
            .required("id", .oneOf(.string, .number, .null), "The id of the call."),
            .optional(
                "request", .boolean,
                "Whether the request of a `request.perform` without `key` is cancelled and dismissed too.",
                default: "false"),
        ], result: .stateChange,
        examples: [
            .init(
                "a call that has been answered", params: #"{"id":7}"#, result: #"{"changed":false,"state":"unknown"}"#)
        ])
}
