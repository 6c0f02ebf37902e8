-- How a workspace looks to visitors and in its e-mails: a colour as #rrggbb, a name, and what stands below. NULL is our own look.
ALTER TABLE workspace ADD COLUMN brand_colour TEXT;
ALTER TABLE workspace ADD COLUMN brand_name TEXT;
ALTER TABLE workspace ADD COLUMN brand_footer TEXT;
