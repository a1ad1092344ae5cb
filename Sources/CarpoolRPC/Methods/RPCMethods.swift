internal import CarpoolJSON

/// `rpc.*`: the protocol about itself.
enum RPCMethods {
    static let all: [Method] = [discover, cancel]

    private static let discover = Method(
        "rpc.discover", role: .observe, "Describes every method, notification and error.",
        """
        Answers with an OpenRPC 1.3.2 document. It is made from the table that calls are checked against, so what it says \
        is what the daemon does. Roles, aliases, notifications, callbacks and the table of errors are under names that \
        begin with `x-`. The answer is one long line: it is the one answer that may be longer than the client's line limit.
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
        that the call waits for goes on: to end that, use `request.cancel`. Useful as a notification too. An id that no \
        call has is no error, since answers cross on the way.
        """,
        params: [
            .required("id", .oneOf(.string, .number, .null), "The id of the call, as it was sent.")
        ], result: .stateChange,
        examples: [
            .init(
                "a call that has been answered", params: #"{"id":7}"#, result: #"{"changed":false,"state":"unknown"}"#)
        ])
}
