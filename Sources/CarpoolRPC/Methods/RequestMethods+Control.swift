internal import CarpoolJSON

// Control of running requests.
extension RequestMethods {
    static let control: [Method] = [resume, suspend, setPriority, output, cancel, curl]

    private static let resume = Method(
        "request.resume", role: .submit, "Starts or continues a request.",
        """
        Starts a request that was made with `start: "manual"`, continues a suspended one, and receives the body of one \
        that holds for its headers. Repeating the call changes nothing.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let suspend = Method(
        "request.suspend", role: .submit, "Pauses a request.",
        """
        Stops reading the response until the request is resumed, and starts no new hop; a body that is being sent is sent \
        completely. The idle timeout pauses, the resource timeout does not.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let setPriority = Method(
        "request.set_priority", role: .submit, "Changes the priority of a waiting request.",
        """
        The request is queued after those of its client that have this priority already. A running transfer does not \
        change, but redirects and retries have the new priority.
        """,
        params: [
            .request,
            .required("priority", .priority, "`high` before `normal` before `low`."),
        ], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}","priority":"high"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let output = Method(
        "request.output", role: .submit, "Passes the descriptor to which the body of a response is written.",
        """
        For a request whose `response_body` has `"fd": "on_demand"`, after the notification `request.output_needed`. \
        Changes nothing if the request has a descriptor, or needs none.
        """,
        params: [
            .request,
            .required(
                "fd", .integer(0...15),
                "The place of the descriptor among those that came with the line: a pipe, a connected stream socket, a terminal or a file."
            ),
        ], result: .stateChange, errors: [.requestNotFound, .fileCannotOpen, .queueFull],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}","fd":0}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let cancel = Method(
        "request.cancel", role: .submit, "Cancels a running request.",
        """
        The outcome is the failure `explicitly_cancelled`. A finished request does not change. The partial file of a \
        download is removed, unless `resume_data` is true. A client that cannot use a stream names the cause in `error`: \
        the outcome is then `response_serialization_failed.custom_serialization_failed` with this cause. An administrator \
        may cancel the requests of all users, but cannot read them.
        """,
        params: [
            .request,
            .optional(
                "resume_data", .boolean,
                "Whether a cancelled download keeps its file to be resumed; the answer comes when the file is closed.",
                default: "false"),
            .optional(
                "error", .object([.required("message", .string(maxBytes: 4_096), "The error message, for users.")]),
                "Why the client cannot use the body."),
        ],
        result: .answer([
            .required("changed", .boolean, "Whether the call changed anything; a repetition answers false."),
            .required("state", .string, "The state afterwards."),
            .optional(
                "resume_data", .string,
                "The token for another download's `resume_data`; absent if the download cannot be resumed."),
        ]), errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let curl = Method(
        "request.curl", role: .submit, "Returns a curl command line that sends the same request.",
        """
        Sends the same method, fields and body when it is pasted into a shell. Describes the last request that was sent, \
        adapters included. Secrets are masked unless `reveal` is true, which only the client that made the request may \
        use. Before there is a request to send, `curl` is null and `reason` says why.
        """,
        params: [
            .request,
            .optional("reveal", .boolean, "Whether to show secrets.", default: "false"),
        ],
        result: .answer([
            .required("curl", .string.nullable, "The command line, over several lines; null if there is none yet."),
            .optional("reason", .string, "Why there is no command line."),
        ]), errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"curl":"curl -v \\\n\t'https://example.com/hello'"}"#)
        ])
}
