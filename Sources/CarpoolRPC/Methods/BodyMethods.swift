internal import CarpoolJSON

/// `body.*`: the bytes of requests, piece by piece, and those of responses, for those who cannot open a file.
enum BodyMethods {
    static let all: [Method] = [put, read, open, release]

    private static let put = Method(
        "body.put", role: .submit, "Gives a piece of a request's body.",
        """
        For bodies that are `{"stream": true}`. The answer comes when the piece is taken, which waits while the network has not \
        taken what was given before: whoever gives one piece after the other, each after the answer to the one before, is as \
        fast as the network. A piece that is given again, because its answer was lost, is taken once if `offset` says where it \
        begins.
        """,
        params: [
            .request,
            .optional("text", .string, "The piece, if it is UTF-8."),
            .optional("base64", .string, "The piece, whatever its bytes; one of the two, or neither to end the body."),
            .optional("offset", .count, "Where the piece begins, in bytes. Absent: behind the one before."),
            .optional("end", .boolean, "Whether it is the last one.", default: "false"),
        ],
        result: .answer([
            .required("accepted_bytes", .count, "How many of the piece's bytes were new."),
            .required("offset_bytes", .count, "Where the next piece begins."),
            .required("room_bytes", .count, "How long a next piece may be to be taken at once."),
        ]), errors: [.requestNotFound, .wrongState, .tooManyInFlight],
        examples: [
            .init(
                "the last piece", params: #"{"request":"${stream}","text":"hello","end":true}"#,
                result: #"{"accepted_bytes":5,"offset_bytes":5,"room_bytes":1048571}"#)
        ])

    private static let read = Method(
        "body.read", role: .submit, "Reads a piece of a response's body.",
        """
        For callers that do not share a file system with the daemon. Whoever can open `body.file` of the record is faster. \
        Works for bodies that came inline too, as long as the request is kept.
        """,
        params: [
            .request,
            .optional("offset", .count, "Where the piece begins, in bytes.", default: "0"),
            .optional("length_bytes", .integer(1...32_768), "The most bytes that are wanted.", default: "32768"),
        ],
        result: .answer([
            .required("base64", .string, "The bytes; none behind the end."),
            .required("offset", .count, "Where they begin."),
            .required("length_bytes", .count, "How many they are."),
            .required("size_bytes", .count, "The size of the whole body."),
            .required("eof", .boolean, "Whether the body ends here."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone],
        examples: [
            .init(
                "the first bytes", params: #"{"request":"${request}","offset":0,"length_bytes":1024}"#,
                result: #"{"base64":"aGVsbG8K","offset":0,"length_bytes":6,"size_bytes":6,"eof":true}"#)
        ])

    private static let open = Method(
        "body.open", role: .submit, "Hands over a descriptor of a response's body.",
        """
        The descriptor comes with the answer's line (SCM_RIGHTS): read the line with recvmsg(2), or a reader like it. It is at \
        the body's beginning, good for reading alone, and stays good when the body is released. It works for callers of any user, \
        and without a common file system; a body that came inline is a file in memory. Not in a batch.
        """,
        params: [.request],
        result: .answer([
            .required("descriptor", .count, "Which of the descriptors that come with the line: 0, as there is one."),
            .required("size_bytes", .count, "The size of the whole body."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone, .tooManyInFlight],
        examples: [
            .init("a body", params: #"{"request":"${request}"}"#, result: #"{"descriptor":0,"size_bytes":6}"#)
        ])

    private static let release = Method(
        "body.release", role: .submit, "Removes the file of a response's body.",
        """
        Call it when the file is read, so that the spool has room for others. A file that nobody releases goes by itself: \
        that of a performed request when its client has gone, or after `limits.spool_lease_ms`, that of a submitted one with the \
        request. The file of a download is its caller's, and stays.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "a body that came inline", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"released"}"#)
        ])
}
