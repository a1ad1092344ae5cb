internal import CarpoolJSON

/// `body.*`: the bytes of requests, piece by piece, and those of responses for clients that cannot open files.
enum BodyMethods {
    static let all: [Method] = [put, read, open, release]

    private static let put = Method(
        "body.put", role: .submit, "Sends a piece of a request's body.",
        """
        For bodies that are `{"stream": true}`. Answers when the piece is accepted, which waits until the network has sent \
        the pieces before. A client that sends each piece after the answer to the one before is as fast as the network. A \
        piece that is sent again, because its answer was lost, is accepted once if it has an `offset`.
        """,
        params: [
            .request,
            .optional("text", .string, "The piece, if it is UTF-8."),
            .optional("base64", .string, "The piece, any bytes; one of the two, or neither to end the body."),
            .optional(
                "offset", .count, "The place of the piece in the body, in bytes. Default: after the piece before."),
            .optional("end", .boolean, "Whether it is the last piece.", default: "false"),
        ],
        result: .answer([
            .required("accepted_bytes", .count, "The number of the piece's bytes that were new."),
            .required("offset_bytes", .count, "The place of the next piece."),
            .required("room_bytes", .count, "The length up to which the next piece is accepted at once."),
        ]), errors: [.requestNotFound, .wrongState, .tooManyInFlight],
        examples: [
            .init(
                "the last piece", params: #"{"request":"${stream}","text":"hello","end":true}"#,
                result: #"{"accepted_bytes":5,"offset_bytes":5,"room_bytes":1048571}"#)
        ])

    private static let read = Method(
        "body.read", role: .submit, "Returns a piece of a response's body.",
        """
        For callers that do not share a file system with the daemon; opening `body.file` of the record is faster. Returns \
        inline bodies too, as long as the request is kept.
        """,
        params: [
            .request,
            .optional("offset", .count, "The place of the first byte.", default: "0"),
            .optional("length_bytes", .integer(1...32_768), "The most bytes to return.", default: "32768"),
        ],
        result: .answer([
            .required("base64", .string, "The bytes; none after the end."),
            .required("offset", .count, "The place of the first byte."),
            .required("length_bytes", .count, "Their number."),
            .required("size_bytes", .count, "The size of the whole body."),
            .required("eof", .boolean, "Whether the body ends here."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone],
        examples: [
            .init(
                "the first bytes", params: #"{"request":"${request}","offset":0,"length_bytes":1024}"#,
                result: #"{"base64":"aGVsbG8K","offset":0,"length_bytes":6,"size_bytes":6,"eof":true}"#)
        ])

    private static let open = Method(
        "body.open", role: .submit, "Passes a descriptor of a response's body.",
        """
        The descriptor comes with the answer's line (SCM_RIGHTS): read the line with recvmsg(2). It is read-only, \
        positioned at the beginning of the body, and stays valid when the body is released. Works for callers of any user, \
        and without a common file system; an inline body is passed as a file in memory. Not in a batch.
        """,
        params: [.request],
        result: .answer([
            .required("descriptor", .count, "The index among the line's descriptors: 0, as there is one."),
            .required("size_bytes", .count, "The size of the whole body."),
        ]), errors: [.requestNotFound, .wrongState, .bodyGone, .tooManyInFlight],
        examples: [
            .init("a body", params: #"{"request":"${request}"}"#, result: #"{"descriptor":0,"size_bytes":6}"#)
        ])

    private static let release = Method(
        "body.release", role: .submit, "Removes the file of a response's body.",
        """
        Call it after reading the file, so that the spool has room for others. A file that is not released is removed \
        later: that of a performed request when the connection that performed it has ended, or after \
        `limits.spool_lease_ms`; that of a submitted one with the request. The file of a download belongs to its caller, and stays.
        """,
        params: [.request], result: .stateChange, errors: [.requestNotFound],
        examples: [
            .init(
                "a body that came inline", params: #"{"request":"${request}"}"#,
                result: #"{"changed":false,"state":"released"}"#)
        ])
}
