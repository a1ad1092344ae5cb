internal import CarpoolJSON

// What the holder of a request may do with it while it is under way.
extension RequestMethods {
    static let control: [Method] = [resume, suspend, setPriority, cancel, curl]

    private static let resume = Method(
        "request.resume", role: .submit, "Lets a request go, or go on.",
        """
        Starts one that was made with `start: "manual"`, continues one that was suspended, and lets the body of one that \
        holds for its headers come. Repeating the call changes nothing.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let suspend = Method(
        "request.suspend", role: .submit, "Holds a request up.",
        """
        Nothing more of its response is read until it is resumed, and nothing is sent that was not begun; a body that is \
        being sent is sent to its end. The idle timeout stands still meanwhile, the resource timeout does not.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let setPriority = Method(
        "request.set_priority", role: .submit, "Changes how soon a waiting request has its turn.",
        """
        It goes behind those of its client that have that priority already. One that has begun is not changed, but its \
        redirects and retries have the new priority.
        """,
        params: [
            .request,
            .required("priority", .priority, "`high` goes before `normal`, and that before `low`."),
        ], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}","priority":"high"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let cancel = Method(
        "request.cancel", role: .submit, "Ends a request that is under way.",
        """
        Its outcome is then the error `explicitly_cancelled`. One that is over stays as it is. What a download has got so \
        far goes, unless `resume_data` is asked for. Whoever reads a stream and can do nothing with it says why in `error`: \
        the outcome is then the error `response_serialization_failed.custom_serialization_failed`, with this as its cause. \
        An administrator may end the requests of all users, and learns nothing more of them.
        """,
        params: [
            .request,
            .optional(
                "resume_data", .boolean, "Whether a download leaves what it has got, for another one to go on with.",
                default: "false"),
            .optional(
                "error", .object([.required("message", .string(maxBytes: 4_096), "What is wrong, for people.")]),
                "Why its body is of no use."),
        ],
        result: .answer([
            .required("changed", .boolean, "Whether the call changed anything; a repetition answers false."),
            .required("state", .string, "The state afterwards."),
            .optional(
                "resume_data", .string,
                "For `resume_data` of another download. Absent if there is nothing that one could go on with."),
        ]), errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"finished"}"#)
        ])

    private static let curl = Method(
        "request.curl", role: .submit, "Gives a command line that sends the same request.",
        """
        Paste it into a shell: the origin sees the same method, fields and body. It is the last request that was made, \
        adapters included. Secrets are masked unless `reveal` is true, which only the client that made the request may \
        ask for. Before there is a request to send, `curl` is null and `reason` says why.
        """,
        params: [
            .request,
            .optional("reveal", .boolean, "Whether secrets are shown.", default: "false"),
        ],
        result: .answer([
            .required("curl", .string.nullable, "The command line, over several lines; null if there is none yet."),
            .optional("reason", .string, "Why there is none."),
        ]), errors: [.requestNotFound],
        examples: [
            .init(
                "one that is over", params: #"{"request":"${request}"}"#,
                result: #"{"curl":"curl -v \\\n\t'https://example.com/hello'"}"#)
        ])
}
