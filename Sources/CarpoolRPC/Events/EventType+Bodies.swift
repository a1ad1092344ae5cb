internal import CarpoolJSON

// The bodies of uploads and downloads.
extension EventType {
    static let bodyRows: [EventDescription] = uploadRows + downloadRows

    private static let uploadRows: [EventDescription] = [
        EventDescription(
            .requestDidCreateUploadable, "request.did_create_uploadable", "EM-37", "The body of an upload was made.",
            [
                .required("kind", .choice("data", "file", "stream"), "The source of its bytes."),
                .optional("size_bytes", .count, "Its length; absent if it is not known."),
            ],
            example: #"{"kind":"file","size_bytes":1048576}"#),
        EventDescription(
            .requestDidFailToCreateUploadable, "request.did_fail_to_create_uploadable", "EM-38",
            "The body of an upload could not be made.", [EventMembers.error],
            example: #"""
                {"error":{"code":2000,"name":"create_uploadable_failed",\#
                "message":"the file of a part cannot be read","retryable":false}}
                """#),
        EventDescription(
            .requestDidProvideInputStream, "request.did_provide_input_stream", "EM-39",
            "A hop has received the stream from which it reads the request's body."),
        EventDescription(
            .requestUploadProgress, "request.upload_progress", nil,
            "The progress of an upload: at its beginning, at its end, and at most ten times a second in between.",
            EventMembers.uploaded, example: #"{"sent_bytes":524288,"total_bytes":1048576}"#),
        EventDescription(
            .taskDidSendBodyData, "task.did_send_body_data", "EM-03",
            "The network accepted a piece of a request's body.", EventMembers.size + EventMembers.uploaded,
            example: #"{"size_bytes":65536,"sent_bytes":524288,"total_bytes":1048576}"#),
        EventDescription(
            .taskNeedsNewBodyStream, "task.needs_new_body_stream", "EM-04",
            "A hop begins to read a streamed body: send it with `body.put`."),
    ]

    private static let downloadRows: [EventDescription] = [
        EventDescription(
            .taskDidWriteData, "task.did_write_data", "EM-13", "A piece of a download was written to its file.",
            EventMembers.size + EventMembers.progress,
            example: #"{"size_bytes":16384,"received_bytes":32768,"total_bytes":1048576}"#),
        EventDescription(
            .taskDidResumeAtOffset, "task.did_resume_at_offset", "EM-12",
            "A download continues where an earlier one stopped.",
            [.required("offset_bytes", .count, "The offset of the first byte that is received."), EventMembers.total],
            example: #"{"offset_bytes":524288,"total_bytes":1048576}"#),
        EventDescription(
            .taskDidFinishDownloading, "task.did_finish_downloading", "EM-14",
            "A download is complete in its partial file, or in the spool.",
            [.required("file", .string, "The path of that file.")],
            example: #"{"file":"/tmp/.report.pdf.k3f9.carpool-part"}"#),
        EventDescription(
            .requestDidCreateDestinationURL, "request.did_create_destination_url", "EM-41",
            "A download is about to be moved to its destination.",
            [.required("file", .string, "The path of the destination.")],
            example: #"{"file":"/tmp/report.pdf"}"#),
        EventDescription(
            .requestDidFinishDownloading, "request.did_finish_downloading", "EM-40",
            "A download was moved to its destination, or could not be moved.",
            [
                .optional("file", .string, "The path of the destination."),
                .optional("error", .requestError, "Why it could not be moved."),
            ],
            example: #"{"file":"/tmp/report.pdf"}"#),
        EventDescription(
            .requestProgress, "request.progress", nil,
            """
            The progress of a response's body: at most ten times a second, and at its end. For a download also at its \
            beginning.
            """,
            EventMembers.progress + [
                .optional(
                    "resume_data", .string,
                    "The token that resumes the download if the daemon ends; only for the client that made the request."
                )
            ],
            example: #"{"received_bytes":32768,"total_bytes":1048576}"#),
    ]
}
